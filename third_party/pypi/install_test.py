"""The installer of the Python environment, with pip and venv replaced by fakes."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from third_party.pypi import install


class Machine:
    """Counts what the installer does; `available` names the locks that "pip" can install."""

    def __init__(self, folder: Path):
        self.cache = folder / "cache"
        self.locks = [folder / name for name in ("all.txt", "cpu.txt", "cuda.txt")]
        for lock in self.locks:
            lock.write_text(f"{lock.stem}==1.0 --hash=sha256:00\n")
        self.available = {"all", "cpu", "cuda"}
        self.installed: list[str] = []
        self.venv_status = 0

    def run(self, command: list, **_) -> SimpleNamespace:
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        return SimpleNamespace(returncode=self.venv_status, stdout="", stderr="no ensurepip")

    def pip_install(self, python: Path, lock: Path, log: Path) -> bool:
        self.installed.append(lock.stem)
        log.write_text(f"WARNING: noise\npip on {lock.stem}\n")
        return lock.stem in self.available

    def install(self) -> None:
        install.main(str(self.cache), *map(str, self.locks))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(install, "pip_install", machine.pip_install)
    monkeypatch.setattr(install.subprocess, "run", machine.run)
    return machine


def test_last_line_is_the_folder_and_the_second_time_nothing_is_done(machine, capsys):
    machine.install()
    folder = Path(capsys.readouterr().out.splitlines()[-1])
    assert folder.is_dir() and folder.parent == machine.cache
    assert machine.installed == ["cpu", "all"]
    machine.install()
    assert capsys.readouterr().out == f"{folder}\n"
    assert machine.installed == ["cpu", "all"]


def test_cuda_build_where_there_is_no_cpu_build(machine, capsys):
    machine.available = {"all", "cuda"}
    machine.install()
    assert machine.installed == ["cpu", "cuda", "all"]
    assert "the CUDA build is installed" in capsys.readouterr().out


def test_failure_is_one_sentence_and_is_not_taken_for_an_environment(machine, capsys):
    machine.available = {"cpu"}
    with pytest.raises(
        SystemExit, match="The Python packages could not be installed; all that pip said is in .*pip.log"
    ):
        machine.install()
    assert capsys.readouterr().err == "pip on all\n"
    machine.available = {"cpu", "all"}
    machine.install()
    assert machine.installed == ["cpu", "all", "cpu", "all"]


def test_python_without_venv(machine):
    machine.venv_status = 1
    with pytest.raises(
        SystemExit, match="cannot make a virtual environment: on Debian install the package python3-venv"
    ):
        machine.install()
    assert machine.installed == []


def test_another_lock_is_another_environment(machine, capsys):
    folders = set()
    for text in ("torch==1", "torch==2"):
        machine.locks[1].write_text(text)
        machine.install()
        folders.add(capsys.readouterr().out.splitlines()[-1])
    assert len(folders) == 2


def test_each_package_is_announced_once(tmp_path, capsys):
    """With a program in place of Python that says what pip says."""
    lock = tmp_path / "lock.txt"
    lock.write_text("# header\nabsl-py==2.5 \\\n    --hash=sha256:00\nscikit-image==0.26 \\\n    --hash=sha256:00\n")
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho 'Collecting absl-py==2.5 (from -r lock.txt (line 1))'\necho '  Downloading absl_py-2.5-py3-none-any.whl'\n"
        "echo 'Processing /wheels/scikit_image-0.26-cp311-cp311-manylinux.whl'\necho 'Installing collected packages: absl-py'\nexit 3\n"
    )
    python.chmod(0o755)
    assert install.pip_install(python, lock, tmp_path / "log") is False
    assert capsys.readouterr().out.splitlines() == [
        "Python environment: [1/2] absl-py",
        "Python environment: [2/2] scikit_image",
        "Python environment: unpacking",
    ]
    assert "Downloading absl_py" in (tmp_path / "log").read_text()


def test_two_clones_at_once_install_once(tmp_path):
    """Two processes; pip's fake writes down what it installs."""
    script = tmp_path / "clone.py"
    script.write_text(
        "import sys, time\nfrom pathlib import Path\nfrom types import SimpleNamespace\nfrom third_party.pypi import install\n"
        "def pip_install(python, lock, log):\n    time.sleep(0.2)\n    open(sys.argv[1] + '/installs', 'a').write(lock.stem + ' ')\n    return True\n"
        "def run(command, **_):\n    if 'venv' in command: Path(command[-1]).mkdir(parents=True)\n    return SimpleNamespace(returncode=0)\n"
        "install.pip_install = pip_install\ninstall.subprocess.run = run\ninstall.main(*sys.argv[2:])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    machine = Machine(tmp_path)
    command = [sys.executable, script, tmp_path, machine.cache, *machine.locks]
    clones = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {clone.communicate()[0].splitlines()[-1] for clone in clones}
    assert [clone.returncode for clone in clones] == [0, 0]
    assert len(folders) == 1
    assert (tmp_path / "installs").read_text() == "cpu all "
