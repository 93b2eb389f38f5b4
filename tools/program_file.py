"""What the tools share that read .pte files: paths as a person types them, and programs that are verified before they are used."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from cortex_m.target_config import core_table, platform_of

_PROGRAM_INFO = Path(__file__).absolute().parent.parent / "cortex_m" / "runtime" / "program_info"


class ToolError(Exception):
    """One sentence for the person at the terminal: the file, the reason, and what to do."""


def one_program(argv: list[str]) -> str:
    """The .pte that a command line names, its one argument beside flags. Raises ToolError."""
    if len(argv) != 2:
        raise ToolError(f"name one .pte, not {len(argv) - 1}; --help has examples")
    return argv[1]


def core_flag(flag: str, core: str, host: bool = False) -> str:
    """The platform that a flag's value names in any of its spellings. Raises ToolError.

    host: whether "host" is one of them.
    """
    if host and core == "host":
        return core
    try:
        return platform_of(core)
    except ValueError:
        known = ", ".join((["host"] if host else []) + list(core_table()))
        raise ToolError(f"--{flag}={core}: there is no such core; known are {known}") from None


def typed_path(text: str) -> Path:
    """`bazel run` changes the folder; what a person types is relative to where they stand."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), text)


def read_program(text: str) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a .pte that a person named, and what `program_info` says of it, which verifies as the device does.

    Raises ToolError.
    """
    path = typed_path(text)
    if path.is_dir():
        raise ToolError(f"{text} is a folder; name a .pte file in it")
    if not path.is_file():
        raise ToolError(f"there is no file {path}; name a .pte, relative to the folder you stand in or from the root")
    done = subprocess.run([str(_PROGRAM_INFO), str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (
            done.stderr.strip().removeprefix(f"program_info: {path}: ") or f"program_info ended with {done.returncode}"
        )
        raise ToolError(f"{text} is refused: {reason}. Export the model again, or copy the file again")
    return path.read_bytes(), json.loads(done.stdout)
