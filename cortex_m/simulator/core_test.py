"""What a board promises, on every core: start-up, faults, the stack's limit, the instruction counter, files.

A probe that misbehaves on request runs on each core's board. What is expected comes from the architecture (which access
faults, how many instructions a loop has), not from a run.
"""

import re
import subprocess
from pathlib import Path

import pytest

from cortex_m import simulator
from cortex_m.boards import boards
from cortex_m.simulator import elf_size

_PROBES = Path("cortex_m/simulator/testing").resolve()
_BOARD = {core: name for name in boards.names() for core in boards.load(name)["cores"]}

# One core of each board and architecture; the others of the table differ from one of these in their names.
_DISTINCT = ["cortex_m0", "cortex_m3", "cortex_m4", "cortex_m7", "cortex_m23", "cortex_m33", "cortex_m55"]

# Armv6-M and Armv8-M Baseline: one kind of fault, without a register that tells its cause, and no trap of divisions.
_BASELINE = {"cortex_m0", "cortex_m0plus", "cortex_m23"}

# Architecture and FPU of each core, by Arm's technical reference manuals, as GNU's tools name them. (M85: flags of the M55.)
_ARCHITECTURE = {
    "cortex_m0": ("v6S-M", None),
    "cortex_m0plus": ("v6S-M", None),
    "cortex_m3": ("v7", None),
    "cortex_m4": ("v7E-M", "VFPv4-D16"),
    "cortex_m7": ("v7E-M", "FPv5/FP-D16 for ARMv8"),
    "cortex_m23": ("v8-M.baseline", None),
    "cortex_m33": ("v8-M.mainline", "FPv5/FP-D16 for ARMv8"),
    "cortex_m35p": ("v8-M.mainline", "FPv5/FP-D16 for ARMv8"),
    "cortex_m55": ("v8.1-M.mainline", "FPv5/FP-D16 for ARMv8"),
    "cortex_m85": ("v8.1-M.mainline", "FPv5/FP-D16 for ARMv8"),
}

on_all = pytest.mark.parametrize("core", _BOARD)
on_distinct = pytest.mark.parametrize("core", _DISTINCT)
on_mainline = pytest.mark.parametrize("core", [core for core in _DISTINCT if core not in _BASELINE])


def _elf(core):
    return _PROBES / f"probe_{core}.elf"


def _run(core, *args, **kwargs):
    return simulator.run(_BOARD[core], _elf(core), args, timeout=60, **kwargs)


def _error(core, *args):
    with pytest.raises(simulator.SimulatorError) as caught:
        _run(core, *args)
    assert "\n" not in str(caught.value)
    return caught.value


@on_all
def test_elf_is_compiled_for_the_core_of_its_platform(core):
    output = subprocess.run(
        ["arm-none-eabi-readelf", "-A", _elf(core)], capture_output=True, text=True, check=True
    ).stdout
    tags = dict(re.findall(r"(Tag_\w+): (.*)", output))
    assert (tags["Tag_CPU_arch"], tags.get("Tag_FP_arch")) == _ARCHITECTURE[core]
    assert ("Tag_ABI_VFP_args" in tags) == (_ARCHITECTURE[core][1] is not None)
    assert ("Tag_MVE_arch" in tags) == (core in ("cortex_m55", "cortex_m85"))


@on_all
def test_exit_status_of_the_program(core):
    for status in (0, 42, 119):
        assert _run(core, "exit", str(status), check=False).status == status


@on_all
def test_state_at_main(core):
    values = _run(core, "state").values
    assert values["constructed"] == "21"
    assert values["preinit"] == "1"
    assert values["data"] == str(1 - 20 + 300)
    assert values["bss"] == "0"
    assert values["float"] == str(round((1.5 * -2.0 + 0.25) * 100))
    assert values["board"] == _BOARD[core]
    assert int(values["pool"]) >= 16 << 20


@on_distinct
def test_files(core, tmp_path):
    content = bytes((i * 7 + i // 256) % 256 for i in range(10_001))
    (tmp_path / "in.bin").write_bytes(content)
    result = _run(core, "copy", "in.bin", "out.bin", cwd=tmp_path)
    assert result.values["length"] == "10001"
    assert (tmp_path / "out.bin").read_bytes() == content


@on_distinct
@pytest.mark.parametrize("loops", [500, 1_000_000, 20_000_000])
def test_instructions_are_counted(core, loops):
    """A loop of two instructions. The last case wraps SysTick's 24 bits, at some ten instructions a wrap."""
    counted = int(_run(core, "ticks", str(loops)).values["instructions"])
    wraps = 2 * loops // (1 << 24) + 1
    assert 2 * loops - 2 <= counted <= 2 * loops + 2 + 20 * wraps


@on_distinct
def test_instructions_are_the_same_in_every_run(core):
    assert len({_run(core, "ticks", "123457").stdout for _ in range(3)}) == 1


@on_distinct
def test_stack_high_water_mark(core):
    lines = [line.split(": ") for line in _run(core, "stack").stdout.splitlines()]
    size, before, after = (int(value) for _, value in lines)
    assert size == 16384
    assert before < 1000
    assert 5000 <= after < 5000 + 1000


@on_distinct
@pytest.mark.parametrize("command", ["recurse", "frame"])
def test_stack_overflow(core, command):
    error = _error(core, command)
    assert (error.kind, error.status) == ("stack overflow", simulator.simulator.EXIT_STACK_OVERFLOW)
    assert "the stack of 16384 bytes overflowed" in str(error)
    assert "in instruction 7, cortex_m::probe.out" in str(error)


@on_distinct
@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["undefined"], "UsageFault, undefined instruction"),
        (["divide"], "UsageFault, division by zero"),
        (["touch", "0"], "MemManage, data access to 0x00000000"),
        (["touch", str(0x40004000)], "MemManage, data access to 0x40004000"),
        (["write_code"], "MemManage, data access to 0x"),
        (["run_data"], "MemManage, instruction fetch from memory that is not code"),
    ],
)
def test_faults_name_their_cause_and_the_operator(core, arguments, cause):
    registers = ["r0", "r12", "lr", "pc", "sp"]
    if core not in _BASELINE:
        registers += ["CFSR", "HFSR", "MMFAR", "BFAR"]
    elif arguments == ["divide"]:
        return  # the architecture defines the quotient: 0
    else:
        cause = "HardFault, at pc 0x"
    error = _error(core, *arguments)
    assert (error.kind, error.status) == ("fault", simulator.simulator.EXIT_FAULT)
    assert cause in str(error) and "at pc 0x" in str(error)
    assert "in instruction 7, cortex_m::probe.out" in str(error)
    for name in registers:
        assert f"{name} " in error.stdout


@on_distinct
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


@on_distinct
def test_unexpected_interrupt(core):
    error = _error(core, "interrupt")
    assert (error.kind, error.status) == ("unexpected interrupt", simulator.simulator.EXIT_UNEXPECTED_INTERRUPT)
    assert "unexpected interrupt 3" in str(error)


@on_mainline
def test_lockup(core):
    error = _error(core, "lockup")
    assert error.kind == "lockup"
    assert "locked up" in str(error)


@on_all
def test_sizes(core):
    sizes = elf_size.report(_elf(core))
    assert sizes["stack"] == 16384
    assert sizes["model"] == sizes["arena"] == 0
    assert 1000 < sizes["code"] < 20_000
    assert sizes["bss"] >= 4096  # the probe's copy buffer
    assert sizes["flash"] == sizes["code"] + sizes["constants"] + sizes["data"]
    assert sizes["ram"] == sizes["data"] + sizes["bss"] + sizes["stack"]
    symbols = elf_size.symbols(_elf(core))
    named = sum(symbols.values())
    assert (
        0.7 * (sizes["code"] + sizes["constants"]) < named <= sizes["flash"]
    )  # the rest is padding, strings, assembly
    assert symbols["Reset_Handler"] > 0 and symbols["main"] > 0
    assert elf_size.compiler(_elf(core)).startswith("GCC: ")
