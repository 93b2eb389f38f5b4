"""Where a shared library that the build makes of this repository's C and C++ is.

Looked for in an environment variable, beside its sources (Bazel's runfiles, a wheel), and in bazel-bin.
"""

import ctypes
import os
from pathlib import Path


def load(folder: str, name: str, variable: str) -> ctypes.CDLL:
    """The library `name` of the folder cortex_m/`folder`. FileNotFoundError says how to build it, and which variable names it."""
    package = Path(__file__).absolute().parent.parent
    named = os.environ.get(variable)
    beside = [package / folder / name, package.parent / "bazel-bin" / "cortex_m" / folder / name]
    paths = [Path(named)] if named else beside
    for path in paths:
        if path.is_file():
            return ctypes.CDLL(str(path))
    raise FileNotFoundError(
        f"{name} is in none of {', '.join(map(str, paths))}: build it with `bazel build //cortex_m/{folder}:{name}`, "
        f"or name it in {variable}"
    )
