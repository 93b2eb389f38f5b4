"""Two clones in different folders, a real cache between them, and the workspace in examples/workspace, built in both: in the first
where it stands, in the second as its README says, copied elsewhere.

The first clone builds everything and tests it. The second exports and links for itself, which must give the same bytes; then it
builds once more and must get every result from the cache.
"""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools.remote_cache import server

# The workspace itself, behind the links of the runfiles.
WORKSPACE = Path("WORKSPACE").resolve().parent
OUTPUTS = (
    "gesture.pte",
    "gesture.report.txt",
    "gesture.report.json",
    "gesture_test_cortex_m55_elf.elf",
    "firmware_cortex_m55.elf",
    "gesture_package.zip",
)


def copy_workspace(target: Path) -> None:
    """The files that Git knows or would take; without Git, all that no Bazel made."""
    listed = subprocess.run(
        ["git", "-C", WORKSPACE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        for name in filter(None, listed.stdout.split("\0")):
            if (WORKSPACE / name).is_file():  # not deleted since
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(WORKSPACE / name, target / name)
    else:
        ignored = shutil.ignore_patterns("bazel-*", "__pycache__", ".git", "user.bazelrc")
        shutil.copytree(WORKSPACE, target, ignore=ignored, dirs_exist_ok=True)


@dataclass
class Clone:
    """A copy of the repository with an output base, and so a Bazel server, of its own."""

    folder: Path
    cache: str
    copied: bool = False  # whether the example workspace is a copy beside the repository
    logs: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        repository = self.folder / "repository"
        copy_workspace(repository)
        self.workspace = repository / "examples" / "workspace"
        if self.copied:
            self.workspace = Path(shutil.copytree(self.workspace, self.folder / "gestures"))
            shutil.rmtree(repository / "examples" / "workspace")
            self._replace("WORKSPACE", 'path = "../.."', f'path = "{repository}"')
            self._replace("tools/workspace.bazelrc", "import %workspace%/../..", f"import {repository}")

    def _replace(self, name: str, old: str, new: str) -> None:
        text = (self.workspace / name).read_text()
        assert text.count(old) == 1, name
        (self.workspace / name).write_text(text.replace(old, new))

    def bazel(self, command: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        # As a person's shell has it, not as a test's: the Python environment is found again, and nothing is put into
        # this test's folder.
        environment = {
            "CORTEX_M_PYTHON": os.path.realpath(sys.executable),
            "CORTEX_M_PYTHON_CACHE": str(Path(sys.prefix).resolve().parent),
            "HOME": pwd.getpwuid(os.getuid()).pw_dir,
            "PATH": os.environ["PATH"],
        }
        bazel = shutil.which("bazel") or shutil.which("bazelisk")
        assert bazel, "neither bazel nor bazelisk is on PATH"
        done = subprocess.run(
            [bazel, f"--output_base={self.folder}/base", "--max_idle_secs=600", command, *arguments],
            cwd=self.workspace, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert not check or done.returncode == 0, (
            f"bazel {command} in {self.workspace}:\n{(done.stdout + done.stderr)[-6000:]}"
        )
        return done

    def build(self, command: str, *arguments: str) -> Counter:
        """Counts the executed actions by (mnemonic, whether the result came from the cache)."""
        log = self.folder / f"log{len(self.logs)}.json"
        self.logs.append(log)
        flags = ["--config=ci", "--config=remote-cache", f"--remote_cache={self.cache}", "--symlink_prefix=/"]
        self.bazel(command, *flags, f"--execution_log_json_file={log}", "--output_groups=+report", *arguments, "//...")
        return Counter(
            (spawn["mnemonic"], spawn["runner"] == "remote cache hit") for spawn in read_stream(log.read_text())
        )

    def outputs(self) -> dict[str, bytes]:
        found = {}
        for name in OUTPUTS:
            paths = sorted((self.folder / "base" / "execroot" / "gestures" / "bazel-out").glob(f"*/bin/{name}"))
            assert paths, f"{self.folder} has no {name}"
            contents = {path.read_bytes() for path in paths}
            assert len(contents) == 1, paths
            found[name] = contents.pop()
        return found


def read_stream(text: str) -> list[dict]:
    """JSON objects one behind the other."""
    decoder, objects, at = json.JSONDecoder(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        item, at = decoder.raw_decode(text, at)
        objects.append(item)
    return objects


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("nginx does not listen")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Address of a running server, and its folder."""
    folder, port = tmp_path_factory.mktemp("cache"), free_port()
    process = server.start(folder, f"127.0.0.1:{port}")
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}", folder
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def clones(cache, tmp_path_factory):
    made = [
        Clone(tmp_path_factory.mktemp("one"), cache[0]),
        Clone(tmp_path_factory.mktemp("two") / "deeper" / "still", cache[0], copied=True),
    ]
    yield made
    for clone in made:
        clone.bazel("clean", "--expunge", check=False)


@pytest.fixture(scope="module")
def built(clones):
    """The outputs of both clones, each made by itself, and the counts of the three builds."""
    first, second = clones
    cold = first.build("test")
    # What is not compiled is done again: it carries the names of folders most easily, and it is what a model is.
    own = second.build("build", "--modify_execution_info=CortexM.*=+no-remote-cache,CppLink=+no-remote-cache")
    outputs = first.outputs(), second.outputs()
    second.bazel("clean")
    warm = second.build("build")
    assert second.outputs() == outputs[0]
    return outputs, cold, own, warm


def test_the_first_clone_finds_an_empty_cache(built, cache):
    _, cold, _, _ = built
    assert not [mnemonic for mnemonic, hit in cold if hit]
    assert {"CortexMExport", "CppCompile", "CppLink", "TestRunner"} <= {mnemonic for mnemonic, _ in cold}
    log = (cache[1] / "access.log").read_text()
    assert "PUT /ac/" in log and "PUT /cas/" in log and "GET /ac/" in log


def test_the_second_clone_makes_the_same_bytes_in_another_folder(built):
    (first, second), _, own, _ = built
    assert own["CortexMExport", False] == 1 and own["CortexMExport", True] == 0
    assert own["CppLink", False] > 0 and own["CppLink", True] == 0
    assert {name for name in OUTPUTS if first[name] != second[name]} == set()


def test_the_second_clone_gets_every_export_and_elf_from_the_cache(built):
    _, cold, _, warm = built
    assert [mnemonic for mnemonic, hit in warm if not hit] == []
    for mnemonic in ("CortexMExport", "CppCompile", "CppLink"):
        assert warm[mnemonic, True] == cold[mnemonic, False]


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_the_package_of_another_workspace_builds_with_cmake(built, tmp_path, core):
    (outputs, _), _, _, _ = built
    (tmp_path / "package.zip").write_bytes(outputs["gesture_package.zip"])
    with zipfile.ZipFile(tmp_path / "package.zip") as archive:
        archive.extractall(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(firmware LANGUAGES C CXX ASM)\nadd_subdirectory(gesture_package)\n"
        "add_executable(firmware main.c)\ntarget_link_libraries(firmware PRIVATE gesture_package)\n"
        "target_link_options(firmware PRIVATE -nostartfiles -Wl,-e,main)\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "gesture.h"\nint main(void) { return gesture_init() && gesture_run() && gesture_output_0()[0] > 0 ? 0 : 1; }\n'
    )
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={tmp_path}/gesture_package/arm-none-eabi.cmake"
    for arguments in (
        ["-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", toolchain, f"-DCORTEX_M_CORE={core}"],
        ["--build", tmp_path / "build", "-j2"],
    ):
        done = subprocess.run(["cmake", *arguments], capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "build" / "firmware").stat().st_size > 20_000


TEST = """
load("@cortex_m_workspace//cortex_m:defs.bzl", "cortex_m_model", "cortex_m_program", "cortex_m_test")
cortex_m_model(name = "net", module = "net.py")
cortex_m_program(name = "program", program = "x.pte")
cortex_m_test(name = "t", model = "{model}", {attributes})
"""


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        ('cores = ["cortex_m99"]', "cortex_m_test t: there is no core cortex_m99; there are cortex_m0, "),
        (
            'cores = ["host"], max_flash_bytes = 1000',
            'bad:t_host is a budget of a board, and "host" is among its cores',
        ),
        ('cores = ["host", "cortex_m4"], max_instructions = 7', "where nothing has that figure: give it by core"),
        (
            'max_ram_bytes = {"cortex_m4": 7}',
            "max_ram_bytes of cortex_m_test t names cortex_m4, which is not among its cores, cortex_m55",
        ),
        ("max_instructions = 0", "max_instructions of cortex_m_test t is 0; it must be above zero"),
        ('baseline = "other/b.json"', "baseline is other/b.json; it is the name of a .json file in this package"),
        ('inputs = ["x.npy"]', "bad:t_cortex_m55 needs both inputs and expected"),
        (
            'model = ":program"',
            "is a ready-made program: it has no predicted outputs to compare with; give inputs and expected",
        ),
    ],
)
def test_budgets_that_make_no_sense_are_refused_before_anything_is_built(built, clones, attributes, sentence):
    model = ":net"
    if attributes.startswith("model"):
        model, attributes = ":program", ""
    package = clones[0].workspace / "bad"
    package.mkdir(exist_ok=True)
    for name in ("net.py", "x.npy", "x.pte"):
        (package / name).touch()
    (package / "BUILD.bazel").write_text(TEST.format(model=model, attributes=attributes))
    done = clones[0].bazel("build", "--nobuild", "--symlink_prefix=/", "//bad:t", check=False)
    assert done.returncode != 0
    assert sentence in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("folder", "address", "sentence"),
    [
        ("a b", "127.0.0.1:1", "nginx cannot name a folder with such characters"),
        ("file/below", "127.0.0.1:1", "Not a directory"),
        ("folder", "nowhere:port", "invalid port"),
    ],
)
def test_a_server_that_cannot_start_says_why(tmp_path, folder, address, sentence):
    (tmp_path / "file").touch()
    with pytest.raises(server.ServerError, match=sentence) as caught:
        server.start(tmp_path / folder, address)
    assert "\n" not in str(caught.value)
