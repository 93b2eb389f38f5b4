"""A smaller .pte of the same program: equal constants among its values are kept once.

Each number and list of numbers that a call takes is a value of its own in what exir emits: of MobileNetV2's values three in four
say what another says. The runtime has memory for each, and the file a table.
"""

from __future__ import annotations

from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary


def compact(program: bytes) -> bytes:
    """program: a .pte without seal. Returns one that computes the same; deterministic."""
    file = deserialize_pte_binary(program)
    for plan in file.program.execution_plan:
        merge_equal_values(plan)
    return bytes(serialize_pte_binary(file))


def merge_equal_values(plan: schema.ExecutionPlan) -> None:
    """Keeps one of each None, number and list of numbers that nobody writes; in place.

    A plan with control flow, or with operators on numbers (executorch_prim::), stays as it is: there a number may change.
    """
    instructions = [one.instr_args for chain in plan.chains for one in chain.instructions]
    if not all(isinstance(one, schema.KernelCall) for one in instructions):
        return
    if any(operator.name.startswith("executorch_prim::") for operator in plan.operators):
        return
    # What the caller gives and gets, and what an operator that returns a number writes.
    written = {*plan.inputs, *plan.outputs, *(call.args[-1] for call in instructions if call.args)}
    kept = list(range(len(plan.values)))  # which value stands for each
    first: dict[tuple, int] = {}
    lists = [index for index, value in enumerate(plan.values) if isinstance(value.val, schema.IntList)]
    for index in [*(set(range(len(plan.values))) - set(lists)), *lists]:  # lists are of numbers
        content = _content(plan.values[index].val, kept)
        if content is not None and index not in written:
            kept[index] = first.setdefault(content, index)
    places = {index: place for place, index in enumerate(sorted(set(kept)))}
    moved = [places[index] for index in kept]
    plan.values = [plan.values[index] for index in places]
    for value in plan.values:
        if isinstance(value.val, schema.IntList | schema.TensorList | schema.OptionalTensorList):
            value.val.items = [moved[item] if item >= 0 else item for item in value.val.items]
    plan.inputs = [moved[index] for index in plan.inputs]
    plan.outputs = [moved[index] for index in plan.outputs]
    for chain in plan.chains:
        chain.inputs = [moved[index] for index in chain.inputs]
        chain.outputs = [moved[index] for index in chain.outputs]
    for call in instructions:
        call.args = [moved[index] for index in call.args]


def _content(value: object, kept: list[int]) -> tuple | None:
    """What two values that are the same have in common; None for one that is not merged. kept: of numbers, already merged."""
    match value:
        case schema.Null():
            return ("none",)
        case schema.Int():
            return ("int", value.int_val)
        case schema.Bool():
            return ("bool", value.bool_val)
        case schema.IntList():
            return ("list", *(kept[item] for item in value.items))
    return None
