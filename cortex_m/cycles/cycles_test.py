"""Counts of blocks and the cycles made of them, on a loop of two instructions that the simulator's probe has.

What is expected comes from the loop (subs, bne) and from Arm's manuals: on an M0 and M3 three cycles a branch that is taken, on an
M0+ and M23 two.
"""

from pathlib import Path

import pytest

from cortex_m import cycles
from cortex_m.cycles import counts, estimate, llvm, tables
from cortex_m.simulator import elf_size

_PROBES = Path("cortex_m/simulator/testing").resolve()
_CORES = ["cortex_m0", "cortex_m3", "cortex_m4", "cortex_m7", "cortex_m23", "cortex_m33", "cortex_m55"]


def _elf(core):
    return _PROBES / f"probe_{core}.elf"


def _spin(core, loops):
    """What the program counted, and the segment that its loop lies in: the second that is measured."""
    result, segments = cycles.count(core, _elf(core), ["ticks", str(loops)])
    return int(result.values["instructions"]), cycles.measured(segments)[1]


@pytest.mark.parametrize("core", _CORES)
def test_blocks_times_lengths_are_what_the_instruction_counter_says(core):
    few, many = _spin(core, 1000), _spin(core, 51000)
    assert many[1].instructions - few[1].instructions == 2 * 50000
    # The counter is SysTick, whose ticks of up to 1.25 instructions are rounded at each of four readings.
    assert many[0] - few[0] == pytest.approx(2 * 50000, abs=5)


@pytest.mark.parametrize("core", _CORES)
def test_the_loop_is_a_block_that_jumps_each_time_but_the_last(core):
    _, segment = _spin(core, 51000)
    hottest = max(segment.blocks, key=lambda block: block.executions)
    assert hottest.instructions == 2
    assert 51000 - 1 <= hottest.executions <= 51000
    assert hottest.jumps == hottest.executions - 1


@pytest.mark.parametrize(
    ("core", "each"), [("cortex_m0", 4), ("cortex_m0plus", 3), ("cortex_m3", 4), ("cortex_m23", 3)]
)
def test_cycles_of_the_loop_by_the_manuals(core, each):
    estimator = cycles.Estimator(core, _elf(core))
    few, many = (estimator.estimate(_spin(core, loops)[1]).cycles for loops in (1000, 51000))
    assert many - few == pytest.approx(each * 50000)


@pytest.mark.parametrize("core", ["cortex_m4", "cortex_m33"])
def test_cycles_of_the_loop_by_llvm(core):
    """One for subs, one for the branch and two for its jump; filling the model's pipeline costs part of a cycle."""
    estimator = cycles.Estimator(core, _elf(core))
    few, many = (estimator.estimate(_spin(core, loops)[1]).cycles for loops in (1000, 51000))
    assert (many - few) / 50000 == pytest.approx(4, abs=0.1)


def test_llvm_knows_beats_and_latencies():
    """A Helium instruction takes two cycles of an M55, an addition one; what no model knows counts one."""
    triple, cpu = estimate.CORES["cortex_m55"].triple, "cortex-m55"
    adds, vectors, unknown, nothing = llvm.cycles(
        [["adds r0, r0, #1"], ["vadd.i8 q0, q1, q2"] * 4, ["lctp"], []], triple, cpu
    )
    assert adds == pytest.approx(1, abs=0.1)
    assert vectors == pytest.approx(8, abs=0.3)
    assert unknown == 1
    assert nothing == 0


def test_without_llvm_the_sentence_says_how_to_get_it():
    with pytest.raises(cycles.MissingLlvm, match="apt-get install llvm-19"):
        llvm.find("llvm-mca", {"PATH": "/nowhere"})


def test_the_newest_llvm_is_taken(tmp_path):
    for version in (18, 19, 21):
        tool = tmp_path / f"llvm-mca-{version}"
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
    assert llvm.find("llvm-mca", {"PATH": str(tmp_path)}) == str(tmp_path / "llvm-mca-21")


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (["subs r0, #1", "bne.w 0x10"], ["subs r0, #1"]),
        (["cmp r0, r1", "it eq", "bxeq lr"], ["cmp r0, r1", "it eq", "bxeq lr"]),
        (["vmladava.s8 r0, q0, q1", "letp lr, 0x10"], ["vmladava.s8 r0, q0, q1"]),
        (["bics r0, r1", "bfi r0, r1, #0, #1", "bl 0x40"], ["bics r0, r1", "bfi r0, r1, #0, #1"]),
        (["cmp r0, r1", "it lt", "blt 0x10"], ["cmp r0, r1"]),
        (["cbz r0, 0x10"], []),
        (["wlstp.8 lr, r0, 0x10"], []),
    ],
)
def test_branches_are_not_the_models(lines, kept):
    assert estimate.plain(lines) == kept


@pytest.mark.parametrize(
    ("core", "lines", "expected"),
    [
        ("cortex_m3", ["mla r0, r1, r2, r3"], 2),
        ("cortex_m3", ["ldr r0, [r1]", "ldrsb r2, [r3]", "adds r0, r2"], 4),  # the second load overlaps
        ("cortex_m3", ["ldm r0!, {r1, r2, r3-r6}"], 7),
        ("cortex_m0", ["push {r4-r7, lr}"], 6),
        ("cortex_m0plus", ["ldr r0, [r1]", "muls r0, r1, r0", "str r0, [r1]"], 5),
    ],
)
def test_tables_follow_the_manuals(core, lines, expected):
    assert tables.cycles(tables.TABLES[core], lines) == expected


def test_files_of_the_plugin_are_read():
    text = "segment\nblock 10000400 3 2 1\nmemory 620 7 40\nsegment\nblock 10000406 1 5 0\n"
    first, second = counts.read(text)
    assert first.blocks == [cycles.Block(0x10000400, 3, 2, 1)]
    assert first.traffic == {0x31000000: (7, 40)}
    assert (first.instructions, second.instructions) == (6, 5)


def test_loads_and_stores_are_counted_by_memory():
    """The probe's loop touches no memory; the program around it has its stack in DTCM and nothing in SRAM."""
    _, segment = _spin("cortex_m55", 51000)
    assert 0x31000000 not in segment.traffic
    assert 0 < sum(accesses for accesses, _ in segment.traffic.values()) < 1000


def test_addresses_have_their_functions():
    functions = elf_size.Functions(_elf("cortex_m55"))
    mark = functions.address(counts.MARK)
    assert mark is not None
    assert functions.at(mark + 2) == counts.MARK
    assert functions.address("there is none") is None


def test_an_elf_that_is_another_is_refused():
    with pytest.raises(ValueError, match="the ELF has no 3 instructions at 0x7"):
        cycles.Estimator("cortex_m55", _elf("cortex_m55")).lines(cycles.Block(7, 3, 1, 0))
