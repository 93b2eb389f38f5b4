"""What the tools share that read .pte files: paths as a person types them, and programs that are verified before they are used."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

_PROGRAM_INFO = Path(__file__).absolute().parent.parent / "cortex_m" / "runtime" / "program_info"


class ToolError(Exception):
    """One sentence for the person at the terminal: the file, the reason, and what to do."""


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
