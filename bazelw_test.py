"""bazelw on machines that lack something: a PATH with fake programs, a root folder with fake installed files."""

import subprocess
from pathlib import Path

import pytest

BAZELW = Path("bazelw").resolve()

# What the script itself calls. Everything else it must not need.
REAL_PROGRAMS = ["bash", "grep", "mktemp", "rm", "tail"]

PROGRAMS = [
    "arm-none-eabi-gcc",
    "chromium",
    "cmake",
    "flatc",
    "g++",
    "llvm-mca-19",
    "ninja",
    "python3.11",
    "qemu-system-arm",
]
FILES = ["usr/include/flatbuffers/flatbuffers.h", "usr/sbin/nginx", "usr/src/googletest/googletest/src/gtest-all.cc"]


class Machine:
    """A machine that has everything, until a test takes something away."""

    def __init__(self, folder: Path):
        self.programs = folder / "bin"
        self.system = folder / "system"
        self.programs.mkdir()
        for name in REAL_PROGRAMS:
            path = next(Path(folder, name) for folder in ("/usr/bin", "/bin") if Path(folder, name).exists())
            (self.programs / name).symlink_to(path)
        for name in PROGRAMS:
            self.program(name, "exit 0")
        self.program("bazel", 'echo "bazel got: $*"')
        self.user(1000)
        for name in FILES:
            self.file(name)

    def program(self, name: str, script: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def file(self, name: str, text: str = "") -> None:
        path = self.system / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def user(self, number: int) -> None:
        self.program("id", f"echo {number}")

    def without(self, *names: str) -> None:
        for name in names:
            (self.programs / name).unlink()

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        variables = {
            "PATH": str(self.programs),
            "CORTEX_M_SYSROOT": str(self.system),
            "HOME": str(self.system),
            **environment,
        }
        return subprocess.run(
            ["/bin/bash", BAZELW, *arguments], env=variables, capture_output=True, check=False, text=True
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_passes_every_argument_to_bazel(machine):
    result = machine.run("test", "--test_arg=a b", "//...")
    assert (result.returncode, result.stdout, result.stderr) == (0, "bazel got: test --test_arg=a b //...\n", "")


def test_takes_bazelisk_where_there_is_no_bazel(machine):
    machine.without("bazel")
    machine.program("bazelisk", 'echo "bazelisk got: $*"')
    assert machine.run("info").stdout == "bazelisk got: info\n"


def test_hands_on_the_exit_status_of_bazel(machine):
    machine.program("bazel", "exit 37")
    assert machine.run("test").returncode == 37


def test_tells_a_user_the_one_command_for_root(machine):
    machine.without("qemu-system-arm", "flatc")
    machine.program("apt-get", "echo must not run; exit 1")
    result = machine.run("test", "//...")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "bazelw: Some Debian packages are missing; root must run:",
        "  apt-get update && apt-get install -y --no-install-recommends qemu-system-arm flatbuffers-compiler",
    ]


@pytest.mark.parametrize(
    ("programs", "packages"),
    [
        (["bazel"], "bazel-bootstrap"),
        (["g++"], "g++"),
        (["arm-none-eabi-gcc"], "gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib"),
        (["qemu-system-arm"], "qemu-system-arm"),
        (["flatc"], "flatbuffers-compiler"),
        (["chromium"], "chromium"),
        (["cmake"], "cmake"),
        (["ninja"], "ninja-build"),
        (["llvm-mca-19"], "llvm-19"),
    ],
)
def test_names_the_package_of_each_program(machine, programs, packages):
    machine.without(*programs)
    machine.program("apt-get", "exit 1")
    assert machine.run("info").stderr.splitlines()[-1].endswith(f"--no-install-recommends {packages}")


def test_names_the_packages_of_files(machine):
    for name in FILES:
        (machine.system / name).unlink()
        (machine.system / name).parent.rmdir()
    (machine.system / "usr/src/googletest/googletest").rmdir()
    machine.program("apt-get", "exit 1")
    assert machine.run("info").stderr.splitlines()[-1].endswith(" libflatbuffers-dev googletest nginx-light")


def test_root_installs_what_is_missing_and_sees_progress(machine):
    machine.without("qemu-system-arm")
    machine.user(0)
    qemu = machine.programs / "qemu-system-arm"
    machine.program(
        "fake-apt",
        f"""
        if [[ $* == *update* ]]; then echo update-words; exit 0; fi
        echo install-words
        echo "dlstatus:1:3.2:Retrieving file 1 of 2" >&3
        echo "pmstatus:qemu-system-arm:50.5:Unpacking qemu-system-arm" >&3
        echo "#!/bin/bash" > {qemu}
        {{ read -r line && echo "asked for input" >&3; }} || true
        """,
    )
    result = machine.run("version", CORTEX_M_APT="fake-apt")
    assert (result.returncode, result.stdout) == (0, "bazel got: version\n")
    assert result.stderr.splitlines() == [
        "bazelw: [1/2] fetching Debian's lists of packages",
        "bazelw: [2/2] installing qemu-system-arm",
        "bazelw:       downloading: 3 % (Retrieving file 1 of 2)",
        "bazelw:       installing: 50 % (Unpacking qemu-system-arm)",
    ]
    assert qemu.exists()


def test_failing_apt_is_told_in_one_sentence(machine):
    machine.without("flatc")
    machine.user(0)
    machine.program("fake-apt", 'if [[ $* == *update* ]]; then exit 0; fi; echo "E: disk full"; exit 100')
    result = machine.run("version", CORTEX_M_APT="fake-apt")
    assert result.returncode == 1
    assert "E: disk full" in result.stderr
    assert "apt-get could not install flatbuffers-compiler" in result.stderr.splitlines()[-1]


def test_system_without_apt(machine):
    machine.without("flatc")
    result = machine.run("version")
    assert result.returncode == 1
    assert result.stderr == (
        "bazelw: Missing: flatbuffers-compiler (names of Debian packages), and without apt-get they must be installed by hand.\n"
    )


def test_python_3_11_that_no_package_brings(machine):
    machine.without("python3.11")
    machine.file("etc/os-release", 'VERSION_ID="13"\n')
    result = machine.run("version")
    assert result.returncode == 1
    assert result.stderr.startswith("bazelw: Python 3.11 is missing") and result.stderr.count("\n") == 1


def test_python_3_11_of_debian_12(machine):
    machine.without("python3.11")
    machine.file("etc/os-release", 'VERSION_ID="12"\n')
    machine.program("apt-get", "exit 1")
    assert machine.run("version").stderr.splitlines()[-1].endswith(" python3.11 python3.11-venv")


def test_python_of_pyenv_counts_and_its_shim_does_not(machine):
    machine.without("python3.11")
    shims = machine.system / ".pyenv/shims"
    shims.mkdir(parents=True)
    (shims / "python3.11").touch(mode=0o755)
    path = f"{shims}:{machine.programs}"
    assert "Python 3.11 is missing" in machine.run("info", PATH=path).stderr
    installed = machine.system / ".pyenv/versions/3.11.7/bin"
    installed.mkdir(parents=True)
    (installed / "python3.11").touch(mode=0o755)
    assert machine.run("info", PATH=path).stdout == "bazel got: info\n"
