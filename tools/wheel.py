"""Packs files into a wheel that pip installs: the same bytes for the same files.

    wheel.py --wheel=cortex_m-0.3.0-py3-none-linux_x86_64.whl --version=0.3.0 --requirements=requirements.in \\
        --readme=README.md cortex_m/__init__.py bazel-out/bin/cortex_m/nn/libcortex_m_nn.so ...

A file is installed under the part of its path from "cortex_m/" on. setuptools writes archive and metadata; what the
package needs is taken, with its version, from the list that the workspace installs.
"""

import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path

from absl import app, flags
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

FLAGS = flags.FLAGS
flags.DEFINE_string("wheel", None, "The file to write.")
flags.DEFINE_string("version", None, "Version of the package.")
flags.DEFINE_string("requirements", None, "List of requirements, requirements.in.")
flags.DEFINE_string("readme", None, "Markdown file that describes the package.")
flags.mark_flags_as_required(["wheel", "version", "requirements", "readme"])

# What `import cortex_m` and its parts import.
IMPORTED = ("torch", "torchao", "executorch", "flatbuffers", "numpy", "pyyaml", "tabulate")
# The kernel library inside is built for this machine; it knows nothing of Python.
TAG = ("py3", "none", "linux_x86_64")
# Zip archives know no time before 1980.
FIXED_TIME = "315532800"


class _Distribution(Distribution):
    """Holds machine code, though no module of it."""

    def has_ext_modules(self):
        return True


class _Wheel(bdist_wheel):
    """One wheel for every Python 3 on one platform."""

    def get_tag(self):
        return TAG


def requirements(text: str) -> list[str]:
    """The lines of a list of requirements that name something in IMPORTED."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    found = {line.partition("==")[0].lower(): line for line in lines if line}
    return [found[name] for name in IMPORTED]


def placed(files: Iterable[str]) -> dict[str, str]:
    """Path in the package ("cortex_m/...") -> file. ValueError for a file outside the package, or two in one place."""
    places: dict[str, str] = {}
    for file in files:
        parts = Path(file).parts
        if "cortex_m" not in parts:
            raise ValueError(f"{file} is not in the package cortex_m")
        place = "/".join(parts[parts.index("cortex_m") :])
        if places.setdefault(place, file) != file:
            raise ValueError(f"{file} and {places[place]} have the same place in the package")
    return places


def build(wheel: Path, files: Iterable[str], version: str, requires: list[str], readme: str) -> None:
    """Writes the wheel of `files`."""
    os.environ["SOURCE_DATE_EPOCH"] = FIXED_TIME
    warnings.filterwarnings("ignore", "setup.py install is deprecated")  # this is no installation
    start = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages: dict[str, list[str]] = {}
        for place, file in sorted(placed(files).items()):
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            target.chmod(0o644)
            packages.setdefault(target.parent.relative_to(folder).as_posix().replace("/", "."), []).append(target.name)
        os.chdir(folder)
        try:
            setup(
                name="cortex-m",
                version=version,
                description="PyTorch models as int8 programs for Arm Cortex-M, exact to the bit",
                long_description=readme,
                long_description_content_type="text/markdown",
                python_requires=">=3.11",
                install_requires=requires,
                packages=sorted(packages),
                package_data={
                    package: [name for name in names if not name.endswith(".py")] for package, names in packages.items()
                },
                distclass=_Distribution,
                cmdclass={"bdist_wheel": _Wheel},
                script_name="setup.py",
                script_args=["--quiet", "bdist_wheel", "--dist-dir=dist"],
            )
        finally:
            os.chdir(start)
        (built,) = (folder / "dist").iterdir()
        if built.name != wheel.name:
            raise ValueError(f"the wheel is called {built.name}, not {wheel.name}")
        shutil.copyfile(built, wheel)


def main(argv: list[str]) -> None:
    logging.disable(logging.WARNING)  # setuptools says that it compiles nothing to bytecode
    build(
        Path(FLAGS.wheel),
        argv[1:],
        FLAGS.version,
        requirements(Path(FLAGS.requirements).read_text()),
        Path(FLAGS.readme).read_text(),
    )


if __name__ == "__main__":
    sys.exit(app.run(main))
