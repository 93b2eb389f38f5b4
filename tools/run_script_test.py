"""`bazel run //tools:python -- script.py`: what a script sees, and what a wrong path gets."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path, monkeypatch):
    """Runs the tool as `bazel run` does: in another folder, with the user's folder in the environment."""
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    tool = Path("tools/run_script.py").resolve()
    return lambda *arguments: subprocess.run(
        [sys.executable, tool, *arguments], capture_output=True, check=False, text=True, cwd="/"
    )


def test_path_and_folder_are_the_users(run, tmp_path):
    (tmp_path / "beside.py").write_text("NAME = 'neighbour'\n")
    (tmp_path / "script.py").write_text(
        "import os, sys, beside\nprint(__name__, sys.argv, os.getcwd() == os.path.dirname(os.path.abspath('script.py')), beside.NAME)\n"
    )
    result = run("script.py", "--flag", "a b")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "__main__ ['script.py', '--flag', 'a b'] True neighbour\n"


def test_exit_status_is_the_scripts(run, tmp_path):
    (tmp_path / "script.py").write_text("raise SystemExit(9)\n")
    assert run("script.py").returncode == 9


def test_missing_script_is_one_sentence(run, tmp_path):
    result = run("no_such.py")
    assert result.returncode == 1
    assert result.stderr == f"There is no script no_such.py in {tmp_path}.\n"


def test_no_script_is_one_sentence(run):
    result = run()
    assert result.returncode == 1
    assert result.stderr.startswith("Which script?") and result.stderr.count("\n") == 1
