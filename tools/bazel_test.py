"""tools/bazel: which settings each Bazel gets. The Bazels are scripts that print their arguments."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A copy of the script in a workspace of its own, which it may change."""
    tools = tmp_path / "clone" / "tools"
    tools.mkdir(parents=True)
    shutil.copy("tools/bazel", tools)
    return tools.parent


def install(path: Path, version: str) -> None:
    path.write_text(
        f'#!/bin/bash\nif [[ $1 == --version ]]; then echo "bazel {version}"; else printf "%s\\n" "$@"; fi\n'
    )
    path.chmod(0o755)


def run(workspace: Path, real: Path) -> subprocess.CompletedProcess:
    environment = {"PATH": "/usr/bin:/bin", "BAZEL_REAL": str(real)}
    command: list[str | Path] = [workspace / "tools" / "bazel", "test", "//...", "--test_arg=a b"]
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True)


@pytest.mark.parametrize(
    ("name", "version", "old"),
    [
        ("bazel-4", "no_version", True),
        ("bazel-real", "no_version", True),
        ("bazel-real", "6.5.0", True),
        ("bazel-real", "7.7.1", False),
        ("bazel-7.7.1-linux-x86_64", "7.7.1", False),
        ("bazel-real", "10.0.0rc1", False),
    ],
)
def test_a_bazel_before_7_reads_the_workspace_settings_alone(workspace, tmp_path, name, version, old):
    install(tmp_path / name, version)
    result = run(workspace, tmp_path / name)
    startup = ["--noworkspace_rc", f"--bazelrc={workspace}/tools/workspace.bazelrc"] if old else []
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [*startup, "test", "//...", "--test_arg=a b"]


def test_the_example_workspace_has_the_same_script():
    assert Path("examples/workspace/tools/bazel").read_bytes() == Path("tools/bazel").read_bytes()


def test_the_installed_version_serves_where_the_asked_one_is_missing(workspace, tmp_path):
    install(tmp_path / "bazel-4", "no_version")
    assert run(workspace, tmp_path / "bazel-7.7.1").stdout.startswith("--noworkspace_rc\n")


def test_no_bazel_at_all_is_one_sentence(workspace, tmp_path):
    result = run(workspace, tmp_path / "bazel-7.7.1")
    assert result.returncode == 1
    assert (
        result.stderr
        == f"tools/bazel: there is no Bazel at {tmp_path}/bazel-7.7.1; run ./bazelw, which installs one.\n"
    )


def test_a_link_into_an_output_base_is_removed_and_a_folder_of_that_name_is_not(workspace, tmp_path):
    install(tmp_path / "bazel-4", "no_version")
    link = workspace / "bazel-clone"
    link.symlink_to(tmp_path)
    assert run(workspace, tmp_path / "bazel-4").returncode == 0
    assert not link.is_symlink()
    link.mkdir()
    assert run(workspace, tmp_path / "bazel-4").returncode == 0
    assert link.is_dir()
