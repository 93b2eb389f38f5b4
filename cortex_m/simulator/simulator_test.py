"""How a simulation is started and ended, and how each abnormal end is told. core_test.py has what the boards promise."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cortex_m import simulator
from cortex_m.simulator import launch

_BOARD = "mps3_an547"
_ELF = Path("cortex_m/simulator/testing/probe_cortex_m55.elf").resolve()


def _run(*args, **kwargs):
    return simulator.run(_BOARD, _ELF, args, timeout=kwargs.pop("timeout", 60), **kwargs)


def _error(*args, **kwargs):
    with pytest.raises(simulator.SimulatorError) as caught:
        _run(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return caught.value


def test_failure_is_told_in_the_programs_words():
    error = _error("fail")
    assert (error.kind, error.status) == ("status", 1)
    assert str(error).endswith("ended with status 1: the probe was asked to fail")


def test_arguments_arrive_unchanged():
    words = ["--input", "a,b,,c.bin", "x=y", "ünïcode", '"quoted"', "$HOME", "a\\b"]
    assert _run("echo", *words).stdout.splitlines() == words


@pytest.mark.parametrize("word", ["", "two words", "tab\tbed", "new\nline"])
def test_arguments_that_semihosting_would_split_are_refused(word):
    with pytest.raises(ValueError, match="empty or contains white space"):
        _run("echo", word)


def test_too_many_arguments_are_refused():
    with pytest.raises(ValueError, match="more than the 64 arguments"):
        _run("echo", *["x"] * 63)
    assert len(_run("echo", *["x"] * 62).stdout.splitlines()) == 62


def test_empty_file(tmp_path):
    (tmp_path / "in.bin").write_bytes(b"")
    assert _run("copy", "in.bin", "out.bin", cwd=tmp_path).values["length"] == "0"
    assert (tmp_path / "out.bin").read_bytes() == b""


def test_missing_file(tmp_path):
    assert "cannot open nothing.bin" in str(_error("copy", "nothing.bin", "out.bin", cwd=tmp_path))


def test_hang_ends_with_the_time_limit_and_leaves_nothing_running():
    start = time.monotonic()
    error = _error("hang", timeout=2)
    assert time.monotonic() - start < 20
    assert error.kind == "timeout"
    assert "did not end within 2 s" in str(error) and str(error).endswith("its last line was: hanging")
    command_lines = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if os.access(p, os.R_OK)]
    assert not any(b"arg=hang" in line and str(_ELF).encode() in line for line in command_lines)


def test_qemu_that_does_not_know_the_machine(tmp_path):
    """An old QEMU says so on stderr and ends with status 1, which is not the program's."""
    old = tmp_path / "run"  # the name of the simulator toolchain's launcher
    old.write_text('#!/bin/sh\necho "qemu-system-arm: unsupported machine type" >&2\nexit 1\n')
    old.chmod(old.stat().st_mode | stat.S_IXUSR)
    error = _error("exit", "0", simulator=str(old))
    assert error.kind == "simulator"
    assert str(error).endswith("unsupported machine type")


def test_qemu_that_crashes(tmp_path):
    crashing = tmp_path / "qemu-system-arm"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashing.chmod(0o755)
    error = _error("exit", "0", simulator=str(crashing))
    assert error.kind == "simulator"
    assert "was killed by SIGSEGV" in str(error)


def test_missing_qemu(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(simulator.MissingSimulator, match="qemu-system-arm is not installed"):
        _run("exit", "0")


def test_missing_elf():
    with pytest.raises(FileNotFoundError, match="there is no ELF"):
        simulator.run(_BOARD, "nothing.elf")


def test_elf_that_is_none(tmp_path):
    fake = tmp_path / "fake.elf"
    fake.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(simulator.SimulatorError) as caught:
        simulator.run(_BOARD, fake, timeout=10)
    assert caught.value.kind in ("simulator", "lockup", "timeout")


def test_launcher_hands_on_output_and_status(capsys):
    arguments = ["--board", _BOARD, str(_ELF)]
    assert launch.main([*arguments, "echo", "--board", "x"]) == 0
    assert capsys.readouterr().out == "--board\nx\n"
    assert launch.main([*arguments, "exit", "5"]) == 5
    assert capsys.readouterr().err.startswith("error: ")
    assert launch.main([*arguments, "touch", "0"]) == launch.EXIT_ABNORMAL
    assert "data access to 0x00000000" in capsys.readouterr().err


def test_launcher_without_simulator():
    """From a shell: one sentence, no traceback."""
    process = subprocess.run(
        [sys.executable, "-m", "cortex_m.simulator.launch", "--board", _BOARD, str(_ELF), "exit", "0"],
        env={**os.environ, "PATH": "/nowhere"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert process.returncode == launch.EXIT_ABNORMAL
    assert process.stderr.startswith("error: qemu-system-arm is not installed")
    assert process.stderr.count("\n") == 1
