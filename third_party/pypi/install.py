"""Installs the locked Python environment into the user's cache, once for all clones of the repository.

    python3.11 third_party/pypi/install.py CACHE LOCK LOCK_CPU LOCK_CUDA

Prints the folder of the environment as the last line of its output. The folder is keyed by the locks and by the
interpreter, and is complete when it holds the file "complete"; whoever comes first installs, others wait for him.
Where packages come from is left to pip's own configuration. Python's standard library alone is used.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

STAMP = "complete"


def key(locks: list[Path]) -> str:
    """Names an environment: the same locks and the same interpreter give the same folder."""
    digest = hashlib.sha256()
    for lock in locks:
        digest.update(lock.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}".encode())
    return digest.hexdigest()[:16]


def announce(text: str) -> None:
    """One line of progress for the person who waits."""
    print(f"Python environment: {text}", flush=True)


def pip_install(python: Path, lock: Path, log: Path) -> bool:
    """Installs exactly what `lock` names, by hash, announcing each package; False when pip fails."""
    total = len(re.findall(r"^\S+==", lock.read_text(), re.MULTILINE))
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
    ]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "-r", str(lock)]
    found = 0
    with (
        log.open("a") as output,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        for line in process.stdout or ():
            output.write(line)
            if match := re.match(
                r"(?:Collecting|Processing) (?:\S*/)?([A-Za-z0-9._]+(?:-[A-Za-z][A-Za-z0-9._]*)*)", line
            ):
                found += 1
                announce(f"[{found}/{total}] {match[1]}")
            elif line.startswith("Installing collected packages"):
                announce("unpacking")
    return process.returncode == 0


def build(environment: Path, lock: Path, lock_cpu: Path, lock_cuda: Path) -> None:
    """Makes the environment from nothing. The stamp comes last, so a broken-off install is never taken for a whole one.

    Raises SystemExit with one sentence, after the end of pip's output, when something fails.
    """
    started = time.monotonic()
    shutil.rmtree(environment, ignore_errors=True)
    announce(f"creating {environment}")
    made = subprocess.run([sys.executable, "-m", "venv", str(environment)], capture_output=True, check=False, text=True)
    if made.returncode != 0:
        print(made.stdout, made.stderr, file=sys.stderr)
        raise SystemExit(
            f"{sys.executable} cannot make a virtual environment: on Debian install the package python3-venv."
        )
    python = environment / "bin" / "python"
    log = environment / "pip.log"
    announce("looking for the CPU build of torch")
    done = pip_install(python, lock_cpu, log)
    if not done:
        announce("there is none where pip looks, so the CUDA build is installed, which works without a GPU too (3 GB)")
        done = pip_install(python, lock_cuda, log)
    if not (done and pip_install(python, lock, log)):
        print(
            *[line for line in log.read_text().splitlines() if "WARNING" not in line][-12:], sep="\n", file=sys.stderr
        )
        raise SystemExit(f"The Python packages could not be installed; all that pip said is in {log}.")
    # pip compiles on one core. Some packages carry files for another Python, so the exit status says nothing.
    announce("compiling to byte code")
    subprocess.run(
        [python, "-m", "compileall", "-q", "-j", "0", environment / "lib"], stdout=subprocess.DEVNULL, check=False
    )
    (environment / STAMP).touch()
    announce(f"ready after {time.monotonic() - started:.0f} s")


def main(cache: str, *files: str) -> None:
    locks = [Path(file) for file in files]
    environment = Path(cache) / f"python-{key(locks)}"
    if not (environment / STAMP).exists():
        environment.parent.mkdir(parents=True, exist_ok=True)
        with Path(f"{environment}.lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if not (environment / STAMP).exists():
                build(environment, *locks)
    print(environment)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main(*sys.argv[1:])
