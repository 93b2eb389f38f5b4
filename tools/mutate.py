"""Small seeded faults, one at a time: do the tests of the room see each of them?

    bazel run //tools:mutate [-- --room=ops --only=NAME --list --fraction=K/N]

tools/mutations/ROOM.yaml has the faults. Each is put into a copy of the tree, never into the tree itself, and the room's tests run on
the copy until one fails: the fault is killed. One that no test sees SURVIVED. One whose text is no longer in its file did not apply.
Those two end the run with status 1. Python tests run in processes forked from one that has imported torch already; tests of
C and C++ run with a Bazel of the copy's own, whose output base is deleted with it.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOMS = ("quantizer", "passes", "ops", "nn", "memory", "runtime", "rules")
KILLED, SURVIVED, STALE, BROKEN = (
    "killed",
    "SURVIVED",
    "did not apply",
    "no verdict",
)  # the tests fail without the fault, too

# Every test of a room: files for pytest, and Bazel's labels or patterns. A mutation's own `tests` run before them.
_TESTS: dict[str, tuple[str, ...]] = {
    "quantizer": ("cortex_m/quantizer", "cortex_m/quantizer/tuning"),
    "passes": ("cortex_m/passes",),
    "ops": ("cortex_m/ops/reference", "//cortex_m/ops/..."),
    "nn": ("//cortex_m/nn/...",),
    "memory": ("cortex_m/memory",),
    "runtime": ("//cortex_m/runtime/...",),
    "rules": ("//cortex_m/test/budgets:all", "//cortex_m/test/int8_io:all", "//cortex_m/runner:all"),
}
# Tests that need a simulator's programs are Bazel's alone.
_NOT_FOR_PYTEST = (
    "cortex_m/passes/movement_device_test.py",
    "cortex_m/memory/sharing_test.py::test_devices_compute_the_same",
)
_LIBRARIES = {
    "CORTEX_M_NN_LIBRARY": "cortex_m/nn/libcortex_m_nn.so",
    "CORTEX_M_HOST_LIBRARY": "cortex_m/host/libcortex_m_host.so",
}


@dataclass(frozen=True)
class Mutation:
    """`text`, which stands once in `file`, becomes `replacement`. tests: those of the room that are likeliest to fail."""

    room: str
    name: str
    file: str
    text: str
    replacement: str
    why: str
    tests: tuple[str, ...] = ()

    def applied(self, root: Path) -> str | None:
        """The mutated file; None if its text is not there exactly once."""
        path = root / self.file
        content = path.read_text() if path.is_file() else ""
        return content.replace(self.text, self.replacement) if content.count(self.text) == 1 else None


def read(folder: Path) -> list[Mutation]:
    """All mutations, room after room. ValueError for an unknown room, a name twice, or one that changes nothing."""
    mutations = [
        Mutation(room=path.stem, **{**entry, "tests": tuple(entry.get("tests", ()))})
        for path in sorted(folder.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text())
    ]
    twice = [name for name, count in Counter(mutation.name for mutation in mutations).items() if count > 1]
    unknown = {mutation.room for mutation in mutations} - set(ROOMS)
    idle = [mutation.name for mutation in mutations if mutation.text == mutation.replacement]
    if twice or unknown or idle:
        raise ValueError(f"names twice: {twice}; unknown rooms: {sorted(unknown)}; without effect: {idle}")
    return mutations


def stale(mutations: Sequence[Mutation], root: Path) -> list[str]:
    """Names of the mutations whose text does not stand exactly once in its file."""
    return [mutation.name for mutation in mutations if mutation.applied(root) is None]


def fraction(text: str) -> tuple[int, int]:
    """K/N: the mutations K, K + N, K + 2N, ... count from 0."""
    part, _, whole = text.partition("/")
    if not (part.isdigit() and whole.isdigit() and int(part) < int(whole)):
        raise argparse.ArgumentTypeError(f"{text!r} is no K/N with 0 <= K < N")
    return int(part), int(whole)


class Tree:
    """A copy of the repository at `source`, in `folder`, to break and to test."""

    def __init__(self, source: Path, folder: Path, libraries: dict[str, str]) -> None:
        self.root, self._base, self._libraries = folder / "repository", folder / "base", libraries
        self._has_bazel = False
        self._passes: dict[tuple[str, ...], bool] = {}  # whether tests pass without a fault
        copy_workspace(source, self.root)

    def test(self, mutation: Mutation) -> str:
        """KILLED, SURVIVED, STALE, or BROKEN where the tests could not be run at all."""
        mutated = mutation.applied(self.root)
        if mutated is None:
            return STALE
        path = self.root / mutation.file
        original = path.read_text()
        path.write_text(mutated)
        try:
            for tests in (mutation.tests, _TESTS[mutation.room]):
                for group in _groups(tests):
                    verdict = self._run(group)
                    if verdict != SURVIVED:
                        path.write_text(original)
                        return verdict if verdict == BROKEN or self._passes_untouched(group) else BROKEN
        finally:
            path.write_text(original)
        return SURVIVED

    def _run(self, tests: Sequence[str]) -> str:
        return self._bazel(tests) if tests[0].startswith("//") else self._pytest(tests)

    def _passes_untouched(self, tests: Sequence[str]) -> bool:
        """A failure says something about a fault only if there is none without it."""
        key = tuple(tests)
        if key not in self._passes:
            self._passes[key] = self._run(tests) == SURVIVED
        return self._passes[key]

    def _pytest(self, tests: Sequence[str]) -> str:
        """In a fork: it imports this repository's modules, and so the fault, for itself."""
        files = [name for test in tests for name in self._files(test)]
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            status = 70
            try:
                status = _run_pytest(self.root, files, self._libraries)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        # 2: a test file could not be imported.
        return {0: SURVIVED, 1: KILLED, 2: KILLED}.get(status, BROKEN)

    def _files(self, test: str) -> Iterator[str]:
        if not (self.root / test).is_dir():
            yield test
            return
        for path in sorted((self.root / test).glob("*_test.py")):
            if str(path.relative_to(self.root)) not in _NOT_FOR_PYTEST:
                yield str(path.relative_to(self.root))

    def _bazel(self, targets: Sequence[str]) -> str:
        self._has_bazel = True
        flags = ["--symlink_prefix=/", "--noshow_progress", "--test_output=errors", "--build_tests_only"]
        done = self._run_bazel("test", *flags, "--", *targets)
        self.log = done.stdout + done.stderr
        # 1: it does not build, which is how a wrong rule or a static assertion ends. 3: a test failed.
        return {0: SURVIVED, 1: KILLED, 3: KILLED}.get(done.returncode, BROKEN)

    def _run_bazel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        bazel = shutil.which("bazel") or shutil.which("bazelisk")
        if bazel is None:
            raise SystemExit("mutate: neither bazel nor bazelisk is on PATH")
        environment = {
            "CORTEX_M_PYTHON": os.path.realpath(sys.executable),
            "CORTEX_M_PYTHON_CACHE": str(Path(sys.prefix).resolve().parent),
            "HOME": pwd.getpwuid(os.getuid()).pw_dir,
            "PATH": os.environ["PATH"],
        }
        return subprocess.run(
            [bazel, f"--output_base={self._base}", "--max_idle_secs=60", *arguments],
            cwd=self.root, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def close(self) -> None:
        """Ends the copy's Bazel and makes its files, which are read-only, deletable."""
        if self._has_bazel:
            self._run_bazel("clean", "--expunge")
            self._run_bazel("shutdown")
            subprocess.run(["chmod", "-R", "u+w", self._base], check=False)
            shutil.rmtree(self._base, ignore_errors=True)


def _groups(tests: Sequence[str]) -> list[list[str]]:
    """pytest's files, then Bazel's targets."""
    both = ([t for t in tests if not t.startswith("//")], [t for t in tests if t.startswith("//")])
    return [group for group in both if group]


def _run_pytest(root: Path, files: Sequence[str], libraries: dict[str, str]) -> int:
    os.chdir(root)
    here = Path(__file__).resolve().parent.parent
    sys.path[:] = [str(root), *(entry for entry in sys.path if Path(entry or ".").resolve() != here)]
    sys.path[:] = [entry for entry in sys.path if ".runfiles" not in entry or "site-packages" in entry]
    sys.dont_write_bytecode = True
    os.environ.update(libraries)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    from tools import pytest_main

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    pytest_main.make_hypothesis_deterministic()
    import pytest

    deselected = [f"--deselect={test}" for test in _NOT_FOR_PYTEST]
    return int(pytest.main([*pytest_main.pytest_arguments([], {}), "-x", "-q", *deselected, *files]))


def copy_workspace(source: Path, target: Path) -> None:
    """The files that Git knows or would take; without Git, all that no Bazel made."""
    listed = subprocess.run(
        ["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        ignored = shutil.ignore_patterns("bazel-*", "__pycache__", ".git", "user.bazelrc")
        shutil.copytree(source, target, ignore=ignored)
        return
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_file():  # not deleted since
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)


def import_once() -> None:
    """What every test of Python imports, once for all forks. One thread: a fork has no others."""
    import executorch.exir
    import hypothesis
    import torch
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

    assert executorch.exir and hypothesis
    torch.set_num_threads(1)


def run(mutations: Sequence[Mutation], source: Path) -> dict[str, str]:
    """The verdict on each, by name, printed as it comes."""
    libraries = {
        name: str(Path(file).resolve()) for name, file in _LIBRARIES.items() if Path(file).is_file()
    } or {name: str(source / "bazel-bin" / file) for name, file in _LIBRARIES.items()}  # fmt: skip
    if any(not test.startswith("//") for m in mutations for test in (*m.tests, *_TESTS[m.room])):
        import_once()
    verdicts: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutate") as folder:
        tree = Tree(source, Path(folder), libraries)
        try:
            for mutation in mutations:
                begin = time.monotonic()
                verdicts[mutation.name] = tree.test(mutation)
                seconds = time.monotonic() - begin
                print(
                    f"{mutation.room:10} {mutation.name:44} {verdicts[mutation.name]:14} {seconds:5.0f} s", flush=True
                )
        finally:
            tree.close()
    counts = Counter(verdicts.values())
    print(f"{len(verdicts)} mutations: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return verdicts


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bazel run //tools:mutate --", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--room", choices=ROOMS, help="only the mutations of this room")
    parser.add_argument("--only", metavar="NAME", help="one mutation")
    parser.add_argument("--list", action="store_true", help="print them, and why each matters; run nothing")
    parser.add_argument("--fraction", type=fraction, default=(0, 1), metavar="K/N", help="every N-th, from the K-th on")
    options = parser.parse_args(arguments)
    source = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or Path("WORKSPACE").resolve().parent)
    chosen = read(source / "tools" / "mutations")[options.fraction[0] :: options.fraction[1]]
    chosen = [m for m in chosen if options.room in (None, m.room) and options.only in (None, m.name)]
    if not chosen:
        print("mutate: no such mutation", file=sys.stderr)
        return 2
    if options.list:
        for mutation in chosen:
            print(f"{mutation.room:10} {mutation.name:44} {mutation.why}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is deleted then, too
    return int(any(verdict != KILLED for verdict in run(chosen, source).values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
