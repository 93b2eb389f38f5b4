"""`bazel run //tools:lint` names a file of each kind of fault and mends it. .ci/run runs it on the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import lint

TOOL = Path("tools/lint.py").resolve()

# A file that the linter objects to, and what it makes of it; None where a person must decide.
FAULTS = {
    "ruff-check": ("a/unused.py", "import os\n", ""),
    "ruff-format": ("a/quotes.py", "x = {  'a':1 }\n", 'x = {"a": 1}\n'),
    "mypy": ("a/wrong.py", 'def number() -> int:\n    return "one"\n', None),
    "structure": ("cortex_m/nn/above.c", '#include "cortex_m/ops/checks.h"\n', None),
    "clang-format": ("a/spaces.cc", "int  f( ){return 1;}\n", "int f() { return 1; }\n"),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with the settings of the checkout and without Git."""
    for settings in ("ruff.toml", "mypy.ini", ".clang-format", ".buildifier.json"):
        shutil.copy(settings, tmp_path)
    for folder in ("a", "cortex_m/nn", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs" / "architecture.md").write_text("| `nn` | pointers → results | | |\n")
    return tmp_path


def run(workspace: Path, *flags: str, **variables: str) -> tuple[int, str]:
    """Exit status and all that is printed."""
    shared = {"MYPY_CACHE_DIR": str(workspace.parent / "mypy_cache")}  # what it knows of Python's own modules
    environment = {**os.environ, **shared, "BUILD_WORKSPACE_DIRECTORY": str(workspace), **variables}
    result = subprocess.run(
        [sys.executable, TOOL, *flags], env=environment, cwd="/", capture_output=True, check=False, text=True
    )
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_mended(name, workspace):
    file, text, mended = FAULTS[name]
    (workspace / file).write_text(text)
    status, printed = run(workspace, f"--only={name}")
    assert status == 1 and file in printed and f"{name}: 1 files, not fine" in printed
    assert (workspace / file).read_text() == text
    status, printed = run(workspace, f"--only={name}", "--fix")
    assert status == (1 if mended is None else 0), printed
    assert (workspace / file).read_text() == (text if mended is None else mended)
    assert run(workspace, f"--only={name}")[0] == status


def test_every_linter_runs_and_all_faults_are_named_at_once(workspace):
    for file, text, _ in FAULTS.values():
        (workspace / file).write_text(text)
    status, printed = run(workspace, "--skip=buildifier")
    assert status == 1 and all(file in printed for file, _, _ in FAULTS.values())
    assert "lint: ruff-check, ruff-format, mypy, structure, clang-format found something." in printed


def test_without_npm_buildifier_is_one_sentence_unless_it_is_left_out(workspace, tmp_path):
    (workspace / "a" / "fine.py").write_text("x = 1\n")
    assert run(workspace, PATH=str(tmp_path)) == (
        1,
        "lint: buildifier comes with npm, which is not installed: install npm, or leave it out with --skip=buildifier.\n",
    )
    status, printed = run(workspace, "--skip=buildifier", PATH=str(tmp_path))
    assert status == 0 and "buildifier" not in printed


def test_a_linter_that_there_is_none_of_is_refused(workspace):
    status, printed = run(workspace, "--only=pylint")
    assert status == 1 and "pylint" in printed


def test_files_that_git_ignores_are_left_alone_and_new_ones_are_not(workspace):
    subprocess.run(["git", "init", "--quiet", workspace], check=True)
    (workspace / ".gitignore").write_text("/ignored.py\n")
    for name in ("ignored.py", "new.py"):
        (workspace / name).write_text("import os\n")
    (workspace / "link.py").symlink_to("new.py")
    status, printed = run(workspace, "--only=ruff-check")
    assert status == 1 and "new.py" in printed and "ignored.py" not in printed and "link.py" not in printed


def test_without_git_generated_folders_are_left_alone(workspace, monkeypatch):
    # The folder of temporary files may lie below a repository: Bazel's own folder has a link to .git.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(workspace.parent))
    for folder in ("bazel-out", "__pycache__", ".mypy_cache", "a"):
        (workspace / folder).mkdir(exist_ok=True)
        (workspace / folder / "file.py").write_text("x = 1\n")
    assert [file for file in lint.files_of(workspace) if file.endswith(".py")] == ["a/file.py"]
