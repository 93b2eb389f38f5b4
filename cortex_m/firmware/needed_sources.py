"""Which source files a program needs, of many that define one function or two each: by their text, without a compiler.

    needed = NeededSources({"src/a.c": text, ...}, include_folders=["src", "src/nn"]).of(["src/main.cc"])

A file is needed if a needed file uses a name that it defines with external linkage and that a header declares. Names are
looked for as words, outside of comments and strings: the answer may hold a file too many (a word that is used for something else), and none too few for
sources in the style of this repository, where definitions begin in the first column. That holds for every core, since no
preprocessor runs. needed_sources_test.py compares it with what compilers and linkers say.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
# The class and the name in front of a parameter list, an initialiser, or the end of an object's definition.
_DEFINED = re.compile(r"(?:([A-Z]\w*)::)?([A-Za-z_]\w*)\s*(?:\(|\[|=|;|\{|$)")
# A function whose name another file's text gets by a macro.
_DEFINED_AS = re.compile(r"^#\s*define\s+\w+\s+([A-Za-z_]\w*)\s*$", re.MULTILINE)
_TRANSPARENT = re.compile(r'(?:namespace(?:\s+[\w:]+)?|extern\s+"C")\s*$')


def _without_comments(text: str) -> str:
    # extern "C" keeps its string, which bodies() looks at.
    return _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0] == '"C"' else " ", text)


def _without_anonymous_namespaces(text: str) -> str:
    """The text without what only this file sees."""
    while begin := re.search(r"^namespace \{", text, re.MULTILINE):
        depth = 1
        end = len(text)
        for brace in re.finditer(r"[{}]", text[begin.end() :]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                end = begin.end() + brace.end()
                break
        text = text[: begin.start()] + text[end:]
    return text


def defined(text: str) -> set[str]:
    """Names of functions and objects that a source defines for others; of a class's functions, the name of the class."""
    text = _without_anonymous_namespaces(_without_comments(text))
    names = set(_DEFINED_AS.findall(text))
    for line in text.splitlines():
        if line[:1].isspace() or line.startswith(
            ("#", "static", "}", "using", "namespace", "typedef", "template", "enum", "struct", "class")
        ):
            continue
        match = _DEFINED.search(line)
        if match:
            names.add(match[1] or match[2])
    return names


def bodies(text: str) -> str:
    """What stands within braces other than a namespace's: the code of a header, without its declarations."""
    text = _without_comments(text)
    inside = []
    opened: list[bool] = []  # of each open brace: whether it makes a body
    begin = 0
    for match in re.finditer(r"[{}]", text):
        if any(opened):
            inside.append(text[begin : match.start()])
        if match[0] == "{":
            opened.append(_TRANSPARENT.search(text[begin : match.start()]) is None)
        elif opened:
            opened.pop()
        begin = match.end()
    return " ".join(inside)


class MissingInclude(ValueError):
    """A file includes another in quotation marks that is not among the texts; the message names both."""


class NeededSources:
    """The files among which to choose: `texts` by path, and the folders that #include looks in, in their order.

    foreign: paths of other people's files, which may include in quotation marks what they can do without.
    """

    def __init__(self, texts: Mapping[str, str], include_folders: Iterable[str], foreign: Iterable[str] = ()):
        self._texts = texts
        self._foreign = frozenset(foreign)
        self._folders = list(include_folders)
        self._includes: dict[str, set[str]] = {}
        self._words_of: dict[str, set[str]] = {}
        self._definers: dict[str, set[str]] = {}
        for path, text in texts.items():
            if not path.endswith(".h"):
                for name in defined(text):
                    self._definers.setdefault(name, set()).add(path)

    def _included(self, path: str) -> set[str]:
        """The headers that a file includes, and those that these include. Raises MissingInclude.

        What stands in angle brackets may be the compiler's, and need not be among the texts.
        """
        if path not in self._includes:
            found = self._includes[path] = set()
            for bracket, name in _INCLUDE.findall(self._texts[path]):
                for folder in [posixpath.dirname(path), *self._folders]:
                    candidate = posixpath.normpath(posixpath.join(folder, name))
                    if candidate in self._texts:
                        found |= {candidate} | self._included(candidate)
                        break
                else:
                    if bracket == '"' and path not in self._foreign:
                        raise MissingInclude(f'{path} includes "{name}", which is in none of {len(self._texts)} files')
        return self._includes[path]

    def _words(self, path: str) -> set[str]:
        if path not in self._words_of:
            self._words_of[path] = set(_WORD.findall(_without_comments(self._texts[path])))
        return self._words_of[path]

    def _used(self, path: str) -> set[str]:
        """Names that others define and that a file uses: it, or code in its headers, speaks of them, and a header declares them."""
        headers = self._included(path)
        spoken = self._words(path).union(*(_WORD.findall(bodies(self._texts[header])) for header in headers))
        declared = set().union(*(self._words(header) for header in headers))
        return spoken & declared & self._definers.keys()

    def of(self, roots: Iterable[str]) -> set[str]:
        """`roots` and every source and header that they need. Raises MissingInclude."""
        needed: set[str] = set()
        waiting = list(roots)
        while waiting:
            path = waiting.pop()
            if path in needed:
                continue
            needed |= {path} | self._included(path)
            for name in self._used(path):
                waiting += self._definers[name]
        return needed
