"""Programs whose tensors share memory compute what those compute that do not; and what may not be shared is not.

Networks are written with cortex_m's int8 operators and PyTorch's copies. What they must give comes from PyTorch running them.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from torch.export import export

from cortex_m.analysis.memory import MemoryPlan
from cortex_m.host.interpreter import ProgramError, ReferenceProgram
from cortex_m.memory.planning_pass import CortexMMemoryPlanningPass, cortex_m_executorch_config
from cortex_m.ops.operators import IN_PLACE
from cortex_m.test.device import Device

ops = torch.ops.cortex_m
HALF = (1 << 30, 1)  # multiplier and shift of 1.0
ROW = (1, 6, 4, 8)  # NHWC
TABLE = torch.arange(-128, 128, dtype=torch.int8).flip(0).contiguous()


class Function(torch.nn.Module):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function
        self.register_buffer("table", TABLE)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def add(a, b):
    return ops.quantized_add(a, 3, *HALF, b, -5, *HALF, 1, 1 << 30, -20, -128, 127)


def mul(a, b):
    return ops.quantized_mul(a, 3, b, -5, 1, 1 << 30, -5)


def table(net, a):
    return ops.quantized_activation(a, net.table)


def plan_of(data: bytes) -> MemoryPlan:
    plan = MemoryPlan.of(data)
    plan.require_sound()
    return plan


@dataclass(frozen=True)
class Network:
    """inputs: shapes. copies: cats and slices that remain. in_place: how many results lie on an operand, if that is the point."""

    function: Callable
    inputs: tuple[tuple[int, ...], ...] = (ROW,)
    copies: int = 0
    in_place: int = 0

    def edge(self):
        torch.manual_seed(0)
        module = Function(self.function).eval()
        given = tuple(torch.randint(-128, 128, shape, dtype=torch.int8) for shape in self.inputs)
        return module, given, to_edge(export(module, given), compile_config=EdgeCompileConfig(_check_ir_validity=False))


def _lies_on_an_operand(plan: MemoryPlan) -> int:
    """Results with exactly the bytes of a tensor that is read for the last time by the instruction that writes them."""
    written = [buffer for buffer in plan.buffers if buffer.kind in ("activation", "output")]
    place = lambda buffer: (buffer.offset, buffer.bytes)
    return sum(
        any(
            other.value != one.value and place(other) == place(one) and other.last == one.first
            for other in plan.buffers
        )
        for one in written
    )


def _each(net, x):
    return table(net, x), table(net, table(net, x))


def joined(dim: int):
    return lambda net, x: table(net, torch.cat(_each(net, x), dim))


NETWORKS = {
    # Copies left out.
    "cat of rows": Network(lambda net, x: mul(torch.cat(_each(net, x), 1), torch.cat(_each(net, add(x, x)), 1))),
    "cat of the batch": Network(joined(0)),
    "cat along the channels of one pixel": Network(joined(3), inputs=((1, 1, 1, 16),)),
    "cat along the last of a matrix of one row": Network(joined(-1), inputs=((1, 16),)),
    "cat that is seen in another shape": Network(
        lambda net, x: table(net, torch.cat([part.reshape(1, 24, 8) for part in _each(net, x)], 1).reshape(48, 8))
    ),
    "cat of cats": Network(
        lambda net, x: table(net, torch.cat([torch.cat(_each(net, x), 1), table(net, add(x, x))], 1))
    ),
    "slice of rows": Network(lambda net, x: add(table(net, x)[:, :3], table(net, x)[:, 3:])),
    "slices that overlap": Network(lambda net, x: (lambda y: add(y[:, :4], mul(y[:, 1:5], y[:, 2:])))(table(net, x))),
    "slice from behind": Network(lambda net, x: table(net, table(net, x)[:, -2:])),
    "slice of a slice": Network(lambda net, x: table(net, table(net, x)[:, 1:][:, 2:4])),
    "slice of a cat": Network(lambda net, x: table(net, torch.cat(_each(net, x), 1)[:, 4:9])),
    "cat of slices in another order": Network(
        lambda net, x: (lambda y: table(net, torch.cat([table(net, y[:, 3:]), table(net, y[:, :3])], 1)))(
            table(net, x)
        ),
    ),
    "one of a batch": Network(lambda net, x: table(net, table(net, x)[1]), inputs=((3, 4, 8),)),
    "slice of an input": Network(lambda net, x: add(x[:, :3], x[:, 3:])),
    # Copies that stay.
    "cat along the channels": Network(joined(3), copies=1),
    "cat of one tensor twice": Network(
        lambda net, x: (lambda y: table(net, torch.cat([y, y], 1)))(table(net, x)), copies=1
    ),
    "cat with an input": Network(lambda net, x: table(net, torch.cat([x, table(net, x)], 1)), copies=1),
    "cat with a constant": Network(
        lambda net, x: table(net, torch.cat([table(net, x), net.table], 0)), inputs=((16,),), copies=1
    ),
    "cat as a result": Network(lambda net, x: torch.cat(_each(net, x), 1), copies=1),
    "cat of a result": Network(
        lambda net, x: (lambda y: (y, table(net, torch.cat([y, table(net, y)], 1))))(table(net, x)), copies=1
    ),
    "cat at other bytes than multiples of 16": Network(joined(0), inputs=((8,),), copies=1),
    "slice at other bytes than multiples of 16": Network(
        lambda net, x: table(net, table(net, x)[4:]), inputs=((24,),), copies=1
    ),
    "two cats of the same": Network(
        lambda net, x: (lambda a, b: add(torch.cat([a, b], 1), torch.cat([b, a], 1)))(
            table(net, x), table(net, add(x, x))
        ),
        copies=1,
    ),
    "slice of columns": Network(lambda net, x: table(net, table(net, x)[:, :, 1:3]), copies=1),
    "every second row": Network(lambda net, x: table(net, table(net, x)[:, ::2]), copies=1),
    "slice as a result": Network(lambda net, x: table(net, x)[:, 1:3], copies=1),
    # In place.
    "chain": Network(lambda net, x: table(net, table(net, table(net, x))), in_place=3),
    "residual": Network(lambda net, x: (lambda y: add(y, table(net, y)))(table(net, x)), in_place=2),
    "second operand": Network(lambda net, x, y: mul(x[:, :1], add(y, y)), inputs=(ROW, ROW), in_place=2),
    "operand that is wanted later": Network(
        lambda net, x: (lambda y: mul(add(y, table(net, x)), y))(table(net, x)), in_place=3
    ),
    "operand of which a slice is wanted later": Network(
        lambda net, x: (lambda y: (lambda s: add(table(net, y)[:, :3], s))(y[:, 1:4]))(table(net, x)), in_place=2
    ),
    "slice that is overwritten": Network(
        lambda net, x: (lambda a, b: add(table(net, a), b))(*(lambda y: (y[:, :3], y[:, 3:]))(table(net, x))),
        in_place=3,
    ),
    "operand that is a result": Network(lambda net, x: (lambda y: (y, table(net, y)))(table(net, x)), in_place=1),
    "both operands one": Network(lambda net, x: (lambda y: add(y, y))(table(net, x)), in_place=2),
    "broadcast of the smaller": Network(lambda net, x: (lambda y: add(y, y[:, :1]))(table(net, x)), in_place=1),
}


@pytest.fixture(scope="module")
def programs():
    """name -> (module, inputs, .pte, .pte without sharing, instructions that are left out)."""

    @functools.cache
    def make(name: str):
        module, inputs, edge = NETWORKS[name].edge()
        again = copy.deepcopy(edge)  # to_executorch changes the graph it is given
        planning = CortexMMemoryPlanningPass()
        shared = edge.to_executorch(cortex_m_executorch_config(memory_planning_pass=planning)).buffer
        apart = CortexMMemoryPlanningPass(share_memory=False)
        alone = again.to_executorch(cortex_m_executorch_config(memory_planning_pass=apart)).buffer
        return module, inputs, bytes(shared), bytes(alone), planning.left_out

    return make


@pytest.mark.parametrize("name", NETWORKS)
def test_results_are_those_of_pytorch(programs, name):
    module, inputs, *datas, _ = programs(name)
    wanted = module(*inputs)
    for data in datas:
        plan_of(data)
        for got, want in zip(
            ReferenceProgram(data).run(inputs), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
        ):
            assert torch.equal(got, want)


@pytest.mark.parametrize("name", NETWORKS)
def test_copies_that_remain(programs, name):
    _, _, shared, apart, _ = programs(name)
    copies = lambda data: sum(call.split(".")[0] in ("aten::cat", "aten::slice_copy", "aten::select_copy")
                              for call in ReferenceProgram(data).instruction_names())  # fmt: skip
    assert copies(shared) == NETWORKS[name].copies
    assert copies(shared) < copies(apart) or copies(apart) == NETWORKS[name].copies


@pytest.mark.parametrize("name", [name for name, network in NETWORKS.items() if network.in_place])
def test_results_that_lie_on_an_operand(programs, name):
    _, _, shared, apart, _ = programs(name)
    assert _lies_on_an_operand(plan_of(shared)) == NETWORKS[name].in_place
    assert _lies_on_an_operand(plan_of(apart)) == 0


@pytest.mark.parametrize("name", NETWORKS)
def test_sharing_takes_no_more_memory_and_reaches_the_bound(programs, name):
    _, _, shared, apart, _ = programs(name)
    assert plan_of(shared).peak <= plan_of(apart).peak
    assert plan_of(shared).overhead <= 0.05


@pytest.mark.parametrize("name", NETWORKS)
def test_the_pass_says_which_instructions_are_gone(programs, name):
    """Positions among those of the program without sharing."""
    _, _, shared, apart, left_out = programs(name)
    before = ReferenceProgram(apart).instruction_names()
    assert [call for place, call in enumerate(before) if place not in left_out] == ReferenceProgram(
        shared
    ).instruction_names()


@pytest.mark.parametrize("core", ["host", "cortex_m0", "cortex_m55"])
def test_devices_compute_the_same(programs, core):
    made = [programs(name) for name in NETWORKS]
    results = Device(core).run([(shared, inputs) for _, inputs, shared, _, _ in made])
    for name, (module, inputs, *_), result in zip(NETWORKS, made, results, strict=True):
        assert result.error is None, name
        wanted = module(*inputs)
        for got, want in zip(result.outputs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert torch.equal(got, want), name


# Memory that is the caller's.


def test_memory_that_the_caller_brings_is_left_alone():
    _, _, edge = NETWORKS["chain"].edge()
    planning = CortexMMemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    plan = MemoryPlan.of(bytes(edge.to_executorch(cortex_m_executorch_config(memory_planning_pass=planning)).buffer))
    assert {buffer.kind for buffer in plan.buffers} == {"activation"}


# Plans that are wrong.


class Heap(CortexMMemoryPlanningPass):
    """Everything at offset 0."""

    def _plan_memory(self, memory_id, specs, begin, alignment):
        for spec in specs:
            spec.mem_id, spec.mem_offset, spec.mem_obj_id = memory_id, 0, 0
        return max(spec.nbytes() for spec in specs)


def heaped(network: Network) -> tuple[bytes, tuple]:
    _, inputs, edge = network.edge()
    return bytes(edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=Heap())).buffer), inputs


def test_a_plan_that_overwrites_what_is_wanted_is_not_sound():
    data, _ = heaped(NETWORKS["operand that is wanted later"])
    with pytest.raises(
        ProgramError, match=r"not sound: instruction \d+ overwrites value \d+, which instruction \d+ reads"
    ):
        MemoryPlan.of(data).require_sound()


def test_an_operator_that_cannot_work_in_place_is_refused_its_operand():
    data, inputs = heaped(Network(lambda net, x: ops.transpose(x, [0, 2, 1, 3])))
    with pytest.raises(
        ProgramError, match="transpose.* writes its result over its argument input, which the operator cannot do"
    ):
        ReferenceProgram(data).run(inputs)
    assert MemoryPlan.of(data).conflicts


def test_the_table_names_arguments_that_the_operators_have():
    for op, arguments in IN_PLACE.items():
        schema = getattr(ops, op).default._schema
        tensors = {argument.name for argument in schema.arguments if str(argument.type) == "Tensor"}
        assert arguments and set(arguments) <= tensors
