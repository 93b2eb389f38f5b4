"""Boards and simulator together: a probe that misbehaves on request, on each simulated core.

What is expected comes from the architecture (which access faults, how many instructions a loop has), not from a run.
"""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cortex_m import simulator
from cortex_m.simulator import elf_size, launch

_PROBES = Path("cortex_m/simulator/testing").resolve()
_BOARD = {"cortex_m55": "mps3_an547", "cortex_m4": "mps2_an386"}

pytestmark = pytest.mark.parametrize("core", _BOARD)


def _elf(core):
    return _PROBES / f"probe_{core}.elf"


def _run(core, *args, **kwargs):
    return simulator.run(_BOARD[core], _elf(core), args, timeout=kwargs.pop("timeout", 60), **kwargs)


def _error(core, *args, **kwargs):
    with pytest.raises(simulator.SimulatorError) as caught:
        _run(core, *args, **kwargs)
    assert "\n" not in str(caught.value)
    return caught.value


def test_exit_status_of_the_program(core):
    for status in (0, 1, 42, 119):
        assert _run(core, "exit", str(status), check=False).status == status


def test_failure_is_told_in_the_programs_words(core):
    error = _error(core, "fail")
    assert (error.kind, error.status) == ("status", 1)
    assert str(error).endswith("ended with status 1: the probe was asked to fail")


def test_arguments_arrive_unchanged(core):
    words = ["--input", "a,b,,c.bin", "x=y", "ünïcode", '"quoted"', "$HOME", "a\\b"]
    assert _run(core, "echo", *words).stdout.splitlines() == words


@pytest.mark.parametrize("word", ["", "two words", "tab\tbed", "new\nline"])
def test_arguments_that_semihosting_would_split_are_refused(core, word):
    with pytest.raises(ValueError, match="empty or contains white space"):
        _run(core, "echo", word)


def test_too_many_arguments_are_refused(core):
    with pytest.raises(ValueError, match="more than the 64 arguments"):
        _run(core, "echo", *["x"] * 63)
    assert len(_run(core, "echo", *["x"] * 62).stdout.splitlines()) == 62


def test_state_at_main(core):
    values = _run(core, "state").values
    assert values["constructed"] == "21"
    assert values["preinit"] == "1"
    assert values["data"] == str(1 - 20 + 300)
    assert values["bss"] == "0"
    assert values["float"] == str(round((1.5 * -2.0 + 0.25) * 100))
    assert values["board"] == _BOARD[core]
    assert int(values["pool"]) >= 16 << 20


def test_files(core, tmp_path):
    content = bytes((i * 7 + i // 256) % 256 for i in range(10_001))
    (tmp_path / "in.bin").write_bytes(content)
    result = _run(core, "copy", "in.bin", "out.bin", cwd=tmp_path)
    assert result.values["length"] == "10001"
    assert (tmp_path / "out.bin").read_bytes() == content


def test_empty_file(core, tmp_path):
    (tmp_path / "in.bin").write_bytes(b"")
    assert _run(core, "copy", "in.bin", "out.bin", cwd=tmp_path).values["length"] == "0"
    assert (tmp_path / "out.bin").read_bytes() == b""


def test_missing_file(core, tmp_path):
    assert "cannot open nothing.bin" in str(_error(core, "copy", "nothing.bin", "out.bin", cwd=tmp_path))


@pytest.mark.parametrize("loops", [500, 1_000_000, 20_000_000])
def test_instructions_are_counted(core, loops):
    """A loop of two instructions. The last case wraps SysTick's 24 bits, at some ten instructions a wrap."""
    counted = int(_run(core, "ticks", str(loops)).values["instructions"])
    wraps = 2 * loops // (1 << 24) + 1
    assert 2 * loops - 2 <= counted <= 2 * loops + 2 + 20 * wraps


def test_instructions_are_the_same_in_every_run(core):
    assert len({_run(core, "ticks", "123457").stdout for _ in range(3)}) == 1


def test_stack_high_water_mark(core):
    lines = [line.split(": ") for line in _run(core, "stack").stdout.splitlines()]
    size, before, after = (int(value) for _, value in lines)
    assert size == 16384
    assert before < 1000
    assert 5000 <= after < 5000 + 1000


@pytest.mark.parametrize("command", ["recurse", "frame"])
def test_stack_overflow(core, command):
    error = _error(core, command)
    assert (error.kind, error.status) == ("stack overflow", simulator.simulator.EXIT_STACK_OVERFLOW)
    assert "the stack of 16384 bytes overflowed" in str(error)
    assert "in instruction 7, cortex_m::probe.out" in str(error)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["undefined"], "UsageFault, undefined instruction, at pc 0x"),
        (["divide"], "UsageFault, division by zero, at pc 0x"),
        (["touch", "0"], "MemManage, data access to 0x00000000"),
        (["touch", str(0x40004000)], "MemManage, data access to 0x40004000"),
        (["write_code"], "MemManage, data access to 0x"),
        (["run_data"], "MemManage, instruction fetch from memory that is not code"),
    ],
)
def test_faults_name_their_cause_and_the_operator(core, arguments, words):
    error = _error(core, *arguments)
    assert (error.kind, error.status) == ("fault", simulator.simulator.EXIT_FAULT)
    assert words in str(error)
    assert "in instruction 7, cortex_m::probe.out" in str(error)
    for name in ("r0", "r12", "lr", "pc", "sp", "CFSR", "HFSR", "MMFAR", "BFAR"):
        assert f"{name} " in error.stdout


def test_pc_of_a_fault_is_that_of_the_instruction(core):
    """The reported address holds a `udf #0`, 0xde00."""
    pc = int(str(_error(core, "undefined")).split("at pc ")[1].split(",")[0], 16)
    assert _word16(_elf(core), pc) == 0xDE00


def _word16(elf, address):
    data = Path(elf).read_bytes()
    program_headers = int.from_bytes(data[28:32], "little")
    for i in range(int.from_bytes(data[44:46], "little")):
        fields = [
            int.from_bytes(data[program_headers + 32 * i + 4 * k :][:4], "little") for k in range(5)
        ]  # type, offset, virtual address, physical address, size in the file
        if fields[0] == 1 and fields[2] <= address < fields[2] + fields[4]:
            at = fields[1] + address - fields[2]
            return int.from_bytes(data[at : at + 2], "little")
    raise AssertionError(f"{address:#x} is not in the file")


def test_unexpected_interrupt(core):
    error = _error(core, "interrupt")
    assert (error.kind, error.status) == ("unexpected interrupt", simulator.simulator.EXIT_UNEXPECTED_INTERRUPT)
    assert "unexpected interrupt 3" in str(error)


def test_lockup(core):
    error = _error(core, "lockup")
    assert error.kind == "lockup"
    assert "locked up" in str(error)


def test_hang_ends_with_the_time_limit_and_leaves_nothing_running(core):
    start = time.monotonic()
    error = _error(core, "hang", timeout=2)
    assert time.monotonic() - start < 20
    assert error.kind == "timeout"
    assert "did not end within 2 s" in str(error) and str(error).endswith("its last line was: hanging")
    command_lines = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if os.access(p, os.R_OK)]
    assert not any(b"arg=hang" in line and str(_elf(core)).encode() in line for line in command_lines)


def test_qemu_that_does_not_know_the_machine(core, tmp_path):
    """An old QEMU says so on stderr and ends with status 1, which is not the program's."""
    old = tmp_path / "run"  # the name of the simulator toolchain's launcher
    old.write_text('#!/bin/sh\necho "qemu-system-arm: unsupported machine type" >&2\nexit 1\n')
    old.chmod(old.stat().st_mode | stat.S_IXUSR)
    error = _error(core, "exit", "0", simulator=str(old))
    assert error.kind == "simulator"
    assert str(error).endswith("unsupported machine type")


def test_qemu_that_crashes(core, tmp_path):
    crashing = tmp_path / "qemu-system-arm"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashing.chmod(0o755)
    error = _error(core, "exit", "0", simulator=str(crashing))
    assert error.kind == "simulator"
    assert "was killed by SIGSEGV" in str(error)


def test_missing_qemu(core, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(simulator.MissingSimulator, match="qemu-system-arm is not installed"):
        _run(core, "exit", "0")


def test_missing_elf(core):
    with pytest.raises(FileNotFoundError, match="there is no ELF"):
        simulator.run(_BOARD[core], "nothing.elf")


def test_elf_that_is_none(core, tmp_path):
    fake = tmp_path / "fake.elf"
    fake.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(simulator.SimulatorError) as caught:
        simulator.run(_BOARD[core], fake, timeout=10)
    assert caught.value.kind in ("simulator", "lockup", "timeout")


def test_launcher_hands_on_output_and_status(core, capsys):
    arguments = ["--board", _BOARD[core], str(_elf(core))]
    assert launch.main([*arguments, "echo", "--board", "x"]) == 0
    assert capsys.readouterr().out == "--board\nx\n"
    assert launch.main([*arguments, "exit", "5"]) == 5
    assert capsys.readouterr().err.startswith("error: ")
    assert launch.main([*arguments, "touch", "0"]) == launch.EXIT_ABNORMAL
    assert "data access to 0x00000000" in capsys.readouterr().err


def test_launcher_without_simulator(core):
    """From a shell: one sentence, no traceback."""
    process = subprocess.run(
        [sys.executable, "-m", "cortex_m.simulator.launch", "--board", _BOARD[core], str(_elf(core)), "exit", "0"],
        env={**os.environ, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
    )
    assert process.returncode == launch.EXIT_ABNORMAL
    assert process.stderr.startswith("error: qemu-system-arm is not installed")
    assert process.stderr.count("\n") == 1


def test_sizes(core):
    sizes = elf_size.report(_elf(core))
    assert sizes["stack"] == 16384
    assert sizes["model"] == sizes["arena"] == 0
    assert 1000 < sizes["code"] < 20_000
    assert sizes["bss"] >= 4096  # the probe's copy buffer
    assert sizes["flash"] == sizes["code"] + sizes["constants"] + sizes["data"]
    assert sizes["ram"] == sizes["data"] + sizes["bss"] + sizes["stack"]
