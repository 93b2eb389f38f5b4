"""Checks the form of the repository's own files, or mends it.

    bazel run //tools:lint                        # checks everything
    bazel run //tools:lint -- --fix               # formats, and mends what the linters can mend by themselves
    bazel run //tools:lint -- --skip=buildifier   # where there is no npm
    bazel run //tools:lint -- --only=mypy

Each linter reads its settings where an editor finds them, too: ruff.toml, mypy.ini, .clang-format and .buildifier.json in the
root. The last file cannot hold reasons. Its warnings are buildifier's own, but for native-*, because Bazel 4 has those rules
built in; unnamed-macro, because macros that declare repositories and toolchains declare several; and function-docstring-*,
because a docstring need not repeat what the names of the arguments say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app, flags

BUILDIFIER = "@bazel/buildifier@8.2.1"


class MissingProgramError(RuntimeError):
    """A linter cannot run here; the message is one sentence."""


@dataclass(frozen=True)
class Linter:
    """One program over the files that it is for.

    files: ends of the names of these files.
    program: the command without options.
    check, fix: options; no `fix` for one that only finds.
    """

    name: str
    files: tuple[str, ...]
    program: Callable[[], list[str]]
    check: tuple[str, ...]
    fix: tuple[str, ...] = ()


def _installed(name: str) -> Callable[[], list[str]]:
    """The program of that name in the locked Python environment."""

    def find() -> list[str]:
        path = Path(sysconfig.get_path("scripts"), name)
        if not path.exists():
            raise MissingProgramError(
                f"{name} is not in this Python's environment: run this with bazel run //tools:lint."
            )
        return [str(path)]

    return find


def _structure() -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("structure.py"))]


def _buildifier() -> list[str]:
    if shutil.which("npm") is None:
        raise MissingProgramError(
            "buildifier comes with npm, which is not installed: install npm, or leave it out with --skip=buildifier."
        )
    return ["npm", "exec", "--prefer-offline", "--yes", f"--package={BUILDIFIER}", "--", "buildifier"]


_PYTHON = (".py",)
_C = (".c", ".cc", ".h")
_BAZEL = (".bzl", "BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel")

# In this order, since the formatter formats what the linter rewrites.
LINTERS = {
    linter.name: linter
    for linter in (
        Linter("ruff-check", _PYTHON, _installed("ruff"), ("check", "--output-format=concise"), ("check", "--fix")),
        Linter("ruff-format", _PYTHON, _installed("ruff"), ("format", "--check"), ("format",)),
        Linter("mypy", _PYTHON, _installed("mypy"), ("--no-error-summary",)),
        Linter("structure", (*_PYTHON, *_C), _structure, ()),
        Linter("clang-format", _C, _installed("clang-format"), ("--dry-run", "--Werror"), ("-i",)),
        Linter("buildifier", _BAZEL, _buildifier, ("-mode=check", "-lint=warn"), ("-mode=fix", "-lint=fix")),
    )
}


def files_of(root: Path) -> list[str]:
    """Paths below `root` of its files: those that Git knows or would add, without Git all but what is generated."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    except (FileNotFoundError, subprocess.CalledProcessError):
        listed = _walked(root)
    return sorted(name for name in {*listed} if name and (root / name).is_file() and not (root / name).is_symlink())


def _walked(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        generated = [name for name in folders if name.startswith("bazel-") or name in (".git", "__pycache__")]
        folders[:] = [name for name in folders if name not in generated and not name.endswith("_cache")]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
    return found


def lint(root: Path, names: Sequence[str], fix: bool = False) -> list[str]:
    """Runs these linters on the files of `root`, which print what they find; names of those that found something.

    Raises MissingProgramError for a linter that cannot run.
    """
    commands = {name: LINTERS[name].program() for name in names}
    files = files_of(root)
    failed = []
    for name, program in commands.items():
        linter = LINTERS[name]
        chosen = [file for file in files if file.endswith(linter.files)]
        if not chosen:
            continue
        options = linter.fix if fix and linter.fix else linter.check
        status = subprocess.run([*program, *options, *chosen], cwd=root, check=False).returncode
        print(f"{name}: {len(chosen)} files, {'fine' if status == 0 else 'not fine'}", flush=True)
        if status != 0:
            failed.append(name)
    return failed


_FIX = flags.DEFINE_bool("fix", False, "Format, and mend what the linters can mend, rather than check.")
_ONLY = flags.DEFINE_multi_enum("only", list(LINTERS), list(LINTERS), "Run this linter; may be repeated.")
_SKIP = flags.DEFINE_multi_enum("skip", [], list(LINTERS), "Do not run this linter; may be repeated.")


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"there are no arguments beside flags: {' '.join(argv[1:])}")
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or Path.cwd())
    try:
        failed = lint(root, [name for name in LINTERS if name in _ONLY.value and name not in _SKIP.value], _FIX.value)
    except MissingProgramError as error:
        sys.exit(f"lint: {error}")
    if failed:
        advice = "The rest is for you." if _FIX.value else "`bazel run //tools:lint -- --fix` mends what can be mended."
        sys.exit(f"lint: {', '.join(failed)} found something. {advice}")


if __name__ == "__main__":
    app.run(main)
