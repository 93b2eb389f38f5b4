"""Runs a Python script with torch, the other locked packages and `cortex_m` importable.

    bazel run //tools:python -- script.py [ARGUMENT...]

The script's path, and the folder it runs in, are those of the person who typed the command.
"""

import os
import runpy
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    if not arguments:
        raise SystemExit("Which script? Usage: bazel run //tools:python -- script.py [ARGUMENT...]")
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    script = Path(arguments[0])
    if not script.is_file():
        raise SystemExit(f"There is no script {script} in {Path.cwd()}.")
    # Programs that the script starts find modules beside themselves, as usual.
    os.environ.pop("PYTHONSAFEPATH", None)
    sys.argv = arguments
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
