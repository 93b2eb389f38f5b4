"""The sources that texts say a program needs, compared with what the linker would take, and on small cases."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from cortex_m.firmware.needed_sources import MissingInclude, NeededSources, bodies, defined

TESTING = Path("cortex_m/firmware/testing")
MANIFEST = json.loads((TESTING / "everything.manifest.json").read_text())
CORES = ["cortex_m4", "cortex_m55"]


def test_names_that_others_see():
    text = """
// int in_a_comment(void);
namespace app {
namespace {
int hidden(int x) {
  return x;
}
}  // namespace
static int own(void) { return 1; }
const Table kTable[3] = {};
Status Method::Init(const Program& program) {
  return helper(program);
}
Span<const uint8_t>
    far(int x);
int32_t shown(int a,
              int b) {
}
}  // namespace app
#define FUNCTION named_by_a_macro
"""
    assert defined(text) == {"kTable", "Method", "shown", "named_by_a_macro"} | (defined(text) & {"uint8_t"})


def test_bodies_are_code_and_not_declarations():
    text = 'extern "C" {\nint declared(void);\ninline int f(void) { return called(); }\n}\nnamespace a { struct S { int m(); }; }'
    assert "called" in bodies(text) and "declared" not in bodies(text)


@pytest.fixture
def sources():
    return {
        "lib/a.h": "int a(void);\n",
        "lib/a.c": '#include "a.h"\n#include "b.h"\nint a(void) { return b(); }\n',
        "lib/b.h": "int b(void);\n",
        "lib/b.c": '#include "b.h"\nint b(void) { return 1; }\n',
        "lib/c.h": "int c(void);\n",
        "lib/c.c": '#include "c.h"\nint c(void) { return 2; }\n',
        "main.c": '#include "lib/a.h"\nint main(void) { return a(); } // not c()\n',
    }


def test_what_is_called_is_needed_and_what_calls_is_not(sources):
    needed = NeededSources(sources, [""])
    assert needed.of(["main.c"]) == {"main.c", "lib/a.h", "lib/a.c", "lib/b.h", "lib/b.c"}
    assert needed.of(["lib/b.c"]) == {"lib/b.h", "lib/b.c"}


def test_an_include_of_ones_own_that_is_not_there_is_an_error(sources):
    del sources["lib/b.h"]
    with pytest.raises(MissingInclude, match=r'^lib/a.c includes "b.h", which is in none of 6 files$'):
        NeededSources(sources, [""]).of(["main.c"])
    assert NeededSources(sources, [""], foreign=["lib/a.c"]).of(["main.c"]) == {"main.c", "lib/a.h", "lib/a.c"}
    sources["lib/a.c"] = "#include <b.h>\nint a(void) { return 0; }\n"
    assert NeededSources(sources, [""]).of(["main.c"]) == {"main.c", "lib/a.h", "lib/a.c"}


def _symbols(archive: Path) -> dict[str, tuple[set[str], set[str]]]:
    """object file's stem -> (defined, undefined) names of external linkage."""
    printed = subprocess.run(
        [os.environ["NM"], "--extern-only", archive], check=True, capture_output=True, text=True
    ).stdout
    objects: dict[str, tuple[set[str], set[str]]] = {}
    for line in printed.splitlines():
        words = line.split()
        if len(words) == 1 and words[0].endswith(".o:"):
            current = objects[words[0].split(".")[0]] = (set(), set())
        elif words:
            current[words[-2] in ("U", "w")].add(words[-1])
    return objects


@pytest.mark.parametrize("core", CORES)
def test_every_source_gets_all_that_the_linker_would_take(core):
    texts = {
        entry["name"]: Path(entry["path"].split("/bin/")[-1]).read_text()
        for entry in MANIFEST["sources"]
        if _is_here(entry)
    }
    # flatbuffers' own headers are not among this test's files.
    needed = NeededSources(texts, ["", *MANIFEST["include_folders"]], foreign=texts)
    source_of = {}
    for name in texts:
        if not name.endswith(".h"):
            source_of.setdefault(Path(name).stem, []).append(name)
    # (defined, undefined) by source. Two sources may have one stem: then the archive's other members tell its folder.
    symbols = {}
    for archive in (TESTING / f"archives_{core}").iterdir():
        objects = _symbols(archive)
        folders = {Path(source_of[stem][0]).parent for stem in objects if len(source_of.get(stem, [])) == 1}
        for stem, found in objects.items():
            here = [
                name for name in source_of.get(stem, []) if len(source_of[stem]) == 1 or Path(name).parent in folders
            ]
            if len(here) == 1:
                symbols[here[0]] = found
    assert len(symbols) > 100
    definer = {symbol: name for name, (defined_, _) in symbols.items() for symbol in defined_}
    calls = {
        source: {definer[symbol] for symbol in undefined if symbol in definer}
        for source, (_, undefined) in symbols.items()
    }
    assert sum(len(callees - {caller}) for caller, callees in calls.items()) > 200
    for source, callees in calls.items():
        missing = callees - needed.of([source])
        assert not missing, f"{source} links {missing}"


@pytest.mark.parametrize("core", CORES)
def test_nothing_prints_allocates_or_throws(core):
    """All that the libraries want from outside: arithmetic, memory, elementary functions that are exact."""
    archives = [_symbols(archive) for archive in (TESTING / f"archives_{core}").iterdir()]
    found = [symbols for objects in archives for symbols in objects.values()]
    wanted = set().union(*(undefined for _, undefined in found)) - set().union(*(own for own, _ in found))
    allowed = (
        r"mem(cmp|cpy|move|set)|str(len|ncmp)|(ceil|floor|fmod|nearbyint|sqrt|trunc)f?|__aeabi_(?!atexit|unwind)\w+"
    )
    assert wanted, "the archives are empty"
    assert not [name for name in wanted if not re.fullmatch(allowed, name)]


def _is_here(entry) -> bool:
    return not entry["name"].startswith("flatbuffers/")
