"""Re-locks the Python environment: requirements.in -> requirements.txt, requirements-cpu.txt, requirements-cuda.txt.

    python3.11 third_party/pypi/lock.py

Run it on x86-64 Linux, where pip's configuration offers the CPU build of torch, then commit the three files. Nothing is
installed. pip resolves twice and reports what it would take:

1. with the user's own pip configuration, where torch is the CPU build;
2. with pip's defaults and the versions of the first answer, where torch is the CUDA build.

A package gets the hash of each file that either answer named. torch is locked apart, in requirements-cpu.txt and, with
the libraries that it needs, in requirements-cuda.txt: pip prefers a file whose hash its index states to a local one, so
in one list the CUDA build would always win.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class Source(NamedTuple):
    """requirements.in, taken apart."""

    resolved: list[str]  # requirements whose dependencies are followed
    alone: list[str]  # requirements taken without their dependencies
    without: set[str]  # normalized names that are left out


def normalize(name: str) -> str:
    """The canonical spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse(text: str) -> Source:
    """Splits the text of requirements.in."""
    source = Source([], [], set())
    for line in text.splitlines():
        requirement, _, comment = (part.strip() for part in line.partition("#"))
        if requirement:
            (source.alone if comment == "no-deps" else source.resolved).append(requirement)
        elif comment.startswith("without:"):
            source.without.update(normalize(name) for name in comment.split()[1:])
    return source


def resolve(requirements: list[str], *options: str, env: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Asks pip what it would install: normalized name -> (version, sha256)."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        subprocess.run([*command, "--report", str(report), *options, *requirements], check=True, env=env)
        installs = json.loads(report.read_text())["install"]
    answer = {}
    for install in installs:
        archive = install["download_info"]["archive_info"]
        digest = archive["hashes"]["sha256"] if "hashes" in archive else archive["hash"].removeprefix("sha256=")
        answer[normalize(install["metadata"]["name"])] = (install["metadata"]["version"], digest)
    return answer


def write(file: str, header: str, pins: dict[str, tuple[str, set[str]]]) -> None:
    """Writes a file that pip accepts with --require-hashes, sorted, so that a re-lock gives a small diff."""
    lines = [f"# {header}", "# Written by third_party/pypi/lock.py from requirements.in; do not edit."]
    for name, (version, digests) in sorted(pins.items()):
        hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(digests))
        lines.append(f"{name}=={version}{hashes}")
    (FOLDER / file).write_text("\n".join(lines) + "\n")


def main() -> None:
    source = parse((FOLDER / "requirements.in").read_text())
    configured = dict(os.environ)
    plain = {key: value for key, value in os.environ.items() if key != "PIP_FIND_LINKS"} | {
        "PIP_CONFIG_FILE": os.devnull
    }

    first = resolve(source.resolved, env=configured)
    first |= resolve(source.alone, "--no-deps", env=configured)
    version, digest = first.pop("torch")
    if not version.endswith("+cpu"):
        raise SystemExit(f"pip's configuration offers torch {version}, not its CPU build: nothing was locked.")
    write("requirements-cpu.txt", "torch's CPU build.", {"torch": (version, {digest})})

    kept = {name: pin for name, pin in first.items() if name not in source.without}
    same = resolve([f"{name}=={version}" for name, (version, _) in kept.items()], "--no-deps", env=plain)
    pins = {name: (version, {digest, same[name][1]}) for name, (version, digest) in kept.items()}
    write("requirements.txt", "All but torch, for CPython 3.11 on x86-64 Linux.", pins)

    cuda = resolve([f"torch=={version.removesuffix('+cpu')}"], env=plain)
    extra = {name: (version, {digest}) for name, (version, digest) in cuda.items() if name not in kept}
    write("requirements-cuda.txt", "torch's CUDA build and the libraries that it needs.", extra)


if __name__ == "__main__":
    main()
