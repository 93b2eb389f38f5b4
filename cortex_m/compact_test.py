"""Programs with equal constants merged: what is merged, what is not, and that they compute the same."""

import pytest
import torch
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary

from cortex_m.compact import compact, merge_equal_values
from cortex_m.export import ModelSource, export_model
from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.seal import unsealed


def _plan(values, calls, inputs=(), outputs=(), operators=("cortex_m::pad",)):
    instructions = [
        schema.Instruction(call if not isinstance(call, list) else schema.KernelCall(0, call)) for call in calls
    ]
    chain = schema.Chain(inputs=[], outputs=[], instructions=instructions, stacktrace=None)
    return schema.ExecutionPlan(
        name="forward", container_meta_type=schema.ContainerMetadata("", ""), values=[schema.EValue(value) for value in values],
        inputs=list(inputs), outputs=list(outputs), chains=[chain],
        operators=[schema.Operator(name, "out") for name in operators], delegates=[], non_const_buffer_sizes=[0],
    )  # fmt: skip


def _values(plan):
    return [one.val for one in plan.values]


def test_equal_numbers_none_and_lists_are_kept_once():
    three, other = schema.Int(3), schema.Int(3)
    lists = [schema.IntList([0, 1]), schema.IntList([2, 0])]
    plan = _plan([three, schema.Int(4), other, *lists, schema.Bool(True), schema.Null(), schema.Null(), schema.IntList([0, 1]), schema.Int(9)],
                 [[0, 3, 6, 9], [2, 8, 4, 7, 5, 9]])  # fmt: skip
    merge_equal_values(plan)
    assert _values(plan) == [
        schema.Int(3), schema.Int(4), schema.IntList([0, 1]), schema.IntList([0, 0]), schema.Bool(True), schema.Null(), schema.Int(9),
    ]  # fmt: skip
    assert [one.instr_args.args for one in plan.chains[0].instructions] == [[0, 2, 5, 6], [0, 2, 3, 5, 4, 6]]


def test_true_is_not_one():
    plan = _plan([schema.Int(1), schema.Bool(True), schema.Null()], [[0, 1, 2]])
    merge_equal_values(plan)
    assert len(plan.values) == 3


@pytest.mark.parametrize(
    ("inputs", "outputs", "calls"), [([1], [], [[0, 1, 2]]), ([], [1], [[0, 1, 2]]), ([], [], [[0, 2, 1]])]
)
def test_what_is_given_returned_or_written_stays_its_own(inputs, outputs, calls):
    plan = _plan([schema.Int(5), schema.Int(5), schema.Int(7)], calls, inputs, outputs)
    merge_equal_values(plan)
    assert _values(plan) == [schema.Int(5), schema.Int(5), schema.Int(7)]


@pytest.mark.parametrize(
    ("calls", "operators"),
    [([[0, 1, 2], schema.JumpFalseCall(0, 0)], ["cortex_m::pad"]), ([[0, 1, 2]], ["executorch_prim::add"])],
)
def test_numbers_that_may_change_are_left_alone(calls, operators):
    plan = _plan([schema.Int(5), schema.Int(5), schema.Int(7)], calls, operators=operators)
    merge_equal_values(plan)
    assert len(plan.values) == 3


def test_an_exported_program_is_compact_and_computes_what_the_one_before_does():
    torch.manual_seed(0)
    net = torch.nn.Sequential(*(torch.nn.Conv2d(4, 4, 3, padding=1) for _ in range(4)))
    x = torch.randn(1, 4, 6, 6)
    result = export_model(ModelSource(net.eval(), example_inputs=(x,), calibration=[(x,)]))
    program = unsealed(result.program)
    assert compact(program) == program  # nothing is left to merge
    file = deserialize_pte_binary(program)
    (plan,) = file.program.execution_plan
    before = len(plan.values)
    numbers = [one.val.int_val for one in plan.values if isinstance(one.val, schema.Int)]
    plan.values += [
        schema.EValue(schema.Int(number)) for number in numbers
    ]  # each once more, and half of the calls read these
    again = {number: before + place for place, number in enumerate(numbers)}
    for one in plan.chains[0].instructions[::2]:
        values = [plan.values[index].val for index in one.instr_args.args]
        one.instr_args.args = [
            again[value.int_val] if isinstance(value, schema.Int) else index
            for value, index in zip(values, one.instr_args.args, strict=True)
        ]
    loose = bytes(serialize_pte_binary(file))
    assert len(compact(loose)) == len(program) < len(loose)
    for one in (loose, compact(loose)):
        assert torch.equal(ReferenceProgram(one).run(result.inputs)[0], result.expected[0])
