"""Lives, storages and the lower bound, against what can be counted by hand."""

from pathlib import Path

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir._serialize._program import deserialize_pte_binary
from torch.export import export

from cortex_m.analysis.memory import MemoryPlan, _Reader
from cortex_m.host.interpreter import ProgramError
from cortex_m.ops import operators  # noqa: F401  (registers cortex_m's operators)
from cortex_m.seal import seal
from cortex_m.target_config import CortexMTargetConfig

CONVOLUTION = Path("cortex_m/test/upstream_programs/op_conv3x3_m55.pte")


class Diamond(torch.nn.Module):
    """instruction 0: sin(x) -> a; 1: exp(a) -> b; 2: a + b -> c; 3: tanh(c) -> out. 100 floats each."""

    def forward(self, x):
        a = torch.sin(x)
        return torch.tanh(a + torch.exp(a))


class Views(torch.nn.Module):
    """sin [2, 50] -> a, seen as [100] by exp."""

    def forward(self, x):
        return torch.exp(torch.sin(x).reshape(100))


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(10))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 2


def program(module: torch.nn.Module, *inputs: torch.Tensor) -> bytes:
    edge = to_edge(export(module.eval(), inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False))
    return bytes(edge.to_executorch().buffer)


@pytest.fixture(scope="module")
def diamond() -> bytes:
    return program(Diamond(), torch.zeros(100))


def lives(plan: MemoryPlan) -> list[tuple[str, int, int]]:
    return sorted((buffer.kind, buffer.first, buffer.last) for buffer in plan.buffers)


def test_lives_of_a_diamond(diamond):
    plan = MemoryPlan.of(diamond)
    assert lives(plan) == [
        ("activation", 0, 2), ("activation", 1, 2), ("activation", 2, 3), ("input", 0, 0), ("output", 3, 3),
    ]  # fmt: skip


def test_lower_bound_of_a_diamond(diamond):
    """Two of 400 bytes at instructions 0, 1 and 3, three at 2; 400 is a multiple of the alignment."""
    plan = MemoryPlan.of(diamond)
    assert plan.live_bytes == (800, 800, 1200, 800)
    assert (plan.lower_bound, plan.peak_instruction) == (1200, 2)
    assert plan.peak >= plan.lower_bound


def test_sizes_are_rounded_up_to_the_alignment():
    """Two of 4 * 3 = 12 bytes take 16 each."""
    assert MemoryPlan.of(program(torch.nn.Sigmoid(), torch.zeros(3))).lower_bound == 32


def test_a_view_shares_the_storage_and_prolongs_the_life_of_what_it_looks_at():
    plan = MemoryPlan.of(program(Views(), torch.zeros(2, 50)))
    (view,) = [buffer for buffer in plan.buffers if buffer.kind == "view"]
    (base,) = [buffer for buffer in plan.buffers if buffer.kind == "activation"]
    assert view.storage == base.storage and view.offset == base.offset and view.shape == (100,)
    assert (base.first, base.last) == (0, 1) and view.last == 1
    assert plan.live_bytes == (800, 800)


def test_scratch_lives_for_its_call_alone():
    """A program of executorch's own: quantize, convolution 32 -> 32 of 32x32 in channels_last, dequantize."""
    plan = MemoryPlan.of(CONVOLUTION.read_bytes())
    (scratch,) = [buffer for buffer in plan.buffers if buffer.kind == "scratch"]
    assert (scratch.first, scratch.last, scratch.bytes) == (1, 1, 1152)
    image = 32 * 32 * 32
    assert plan.live_bytes == (4 * image + image, image + 1152 + image, image + 4 * image)


def test_state_lives_always():
    plan = MemoryPlan.of(program(Counter(), torch.zeros(10)))
    (state,) = [buffer for buffer in plan.buffers if buffer.kind == "state"]
    assert (state.first, state.last) == (0, len(plan.live_bytes) - 1)


class Parts(torch.nn.Module):
    """0: sin(x) -> a [2, 8]; 1: a split -> two of [2, 4]; 2: exp of the first; 3: cos of the second; 4: their sum."""

    def forward(self, x):
        first, second = torch.split(torch.sin(x), [4, 4], 1)
        return torch.exp(first) + torch.cos(second)


def test_tensors_of_a_list_are_written_by_the_call_that_gives_it():
    plan = MemoryPlan.of(program(Parts(), torch.zeros(2, 8)))
    assert lives(plan) == [
        ("activation", 0, 1), ("activation", 1, 2), ("activation", 1, 3), ("activation", 2, 4), ("activation", 3, 4),
        ("input", 0, 0), ("output", 4, 4),
    ]  # fmt: skip
    assert plan.conflicts == ()


def moved(data: bytes, which: str, onto: str) -> tuple[str, ...]:
    """Conflicts of the plan in which what the operator `which` writes lies where what `onto` is lies."""
    (plan,) = deserialize_pte_binary(data).program.execution_plan
    buffers = {buffer.name: buffer for buffer in MemoryPlan.of(data).buffers}
    place = plan.values[buffers[which].value].val.allocation_info
    place.memory_offset_low = buffers[onto].offset
    return _Reader(plan).conflicts()


def test_what_lies_over_a_part_that_is_still_to_be_read_is_a_conflict():
    data = program(Parts(), torch.zeros(2, 8))
    (split,) = {buffer.name for buffer in MemoryPlan.of(data).buffers if "split" in buffer.name}
    assert moved(data, "aten::exp.out", split)  # the second part, which cos reads


class TwoCounters(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("up", torch.zeros(10))
        self.register_buffer("down", torch.zeros(10))

    def forward(self, x):
        self.up.add_(x)
        self.down.sub_(x)
        return x * 2


def test_what_lies_over_state_is_a_conflict_though_nobody_reads_it_again_in_this_run():
    """The last instructions write one buffer, then the other: in one place, the first is lost for the next run alone."""
    data = program(TwoCounters(), torch.zeros(10))
    assert MemoryPlan.of(data).conflicts == ()
    (plan,) = deserialize_pte_binary(data).program.execution_plan
    up, down = (buffer for buffer in MemoryPlan.of(data).buffers if buffer.kind == "state")
    plan.values[down.value].val.allocation_info.memory_offset_low = up.offset
    assert any(f"overwrites value {up.value}" in sentence for sentence in _Reader(plan).conflicts())


def test_what_a_copy_in_place_reads_is_read():
    """The sum lives until it is copied into the buffer."""
    plan = MemoryPlan.of(program(Counter(), torch.zeros(10)))
    (total,) = [buffer for buffer in plan.buffers if buffer.name == "aten::add.out"]
    assert total.last == len(plan.live_bytes) - 1


def test_buffers_that_live_together_and_share_bytes_are_of_one_storage(diamond):
    for one in MemoryPlan.of(diamond).buffers:
        for other in MemoryPlan.of(diamond).buffers:
            together = one.first <= other.last and other.first <= one.last
            assert one.value == other.value or not (together and one.overlaps(other)) or one.storage == other.storage


def test_json_has_everything(diamond):
    plan = MemoryPlan.of(diamond)
    content = plan.to_json()
    assert content["peak"] == plan.peak and len(content["buffers"]) == len(plan.buffers)
    assert set(content["buffers"][0]) >= {"value", "name", "offset", "bytes", "memory_id", "first", "last", "kind"}


def test_the_text_says_peak_and_bound(diamond):
    plan = MemoryPlan.of(diamond)
    assert f"{plan.peak:,} bytes planned, 1,200 live at instruction 2" in str(plan)


def test_a_sealed_program_is_read_and_a_damaged_one_refused(diamond):
    sealed = seal(diamond, CortexMTargetConfig.any())
    assert MemoryPlan.of(sealed) == MemoryPlan.of(diamond)
    with pytest.raises(ValueError, match="damaged|checksum|seal"):
        MemoryPlan.of(sealed[:100] + bytes([sealed[100] ^ 1]) + sealed[101:])


def test_an_unknown_method_is_named(diamond):
    with pytest.raises(ProgramError, match="no method 'backward'"):
        MemoryPlan.of(diamond, "backward")
