"""The cases themselves: expected values from two independent computations, and data that tells something."""

from functools import cache

import numpy as np
import pytest
import torch

from cortex_m.ops.operators import IN_PLACE, read_schemas
from cortex_m.test.suite import oracle, pooling, registry
from cortex_m.test.suite.case import Case, named_arguments, rail_share, reference
from cortex_m.test.suite.program import in_place_arguments
from cortex_m.test.suite.refusals import all_refusals, out_of
from cortex_m.test.suite.registry import all_cases

_OPERATORS = sorted(read_schemas())


def _cases(op: str) -> list[Case]:
    return [case for case in all_cases() if case.op == op]


@cache
def _results(op: str) -> list[tuple[Case, torch.Tensor]]:
    return [(case, reference(case)) for case in _cases(op)]


@pytest.mark.parametrize("op", _OPERATORS)
def test_reference_is_the_exact_arithmetic(op):
    wrong = []
    for case, result in _results(op):
        got, wanted = result.numpy(), oracle.expected(op, named_arguments(case))
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            wrong.append(f"{case}: {got.dtype} {got.shape} instead of {wanted.dtype} {wanted.shape}")
        elif np.ascontiguousarray(got).tobytes() != np.ascontiguousarray(wanted).tobytes():
            wrong.append(f"{case}: {(got != wanted).sum()} of {got.size} values differ")
    assert wrong == []


@pytest.mark.parametrize("op", _OPERATORS)
def test_at_most_half_of_the_outputs_sit_at_a_rail(op):
    """Unless that is the point of the case, which then says why; an excuse that is not needed is an error too."""
    wrong = []
    for case, result in _results(op):
        share = rail_share(result, named_arguments(case))
        if (share > 0.5) != (case.saturates is not None):
            wrong.append(f"{case}: {share:.0%} of the outputs at a rail, excuse: {case.saturates}")
    assert wrong == []


@pytest.mark.parametrize("op", _OPERATORS)
def test_data_has_both_signs(op):
    """Of int8 inputs and of outputs, over the cases of an operator."""
    for values in ([result for _, result in _results(op)], [case.arguments[0] for case in _cases(op)]):
        assert any(bool((v < 0).any()) for v in values) and any(bool((v > 0).any()) for v in values)


@pytest.mark.parametrize("op", _OPERATORS)
def test_every_operator_is_covered(op):
    """operators.yaml is the list: a new operator fails here until it has cases, drawn cases and refusals."""
    kinds = {case.kind for case in _cases(op)}
    assert {"example", "drawn"} <= kinds
    assert sum(refusal.case.op == op and refusal.expected is None for refusal in all_refusals()) >= 20


@pytest.mark.parametrize(
    ("op", "argument"), [(op, argument) for op, arguments in IN_PLACE.items() for argument in arguments]
)
def test_what_may_be_written_over_is_written_over(op, argument):
    """in_place of operators.yaml: core_test runs each of these cases a second time, with out in the argument's place."""
    found = [
        case
        for case, result in _results(op)
        if argument in in_place_arguments(case, out_of(result, case.orders.get("out")))
    ]
    assert len({case.arguments[0].numel() for case in found}) >= 5


def test_a_rail_is_counted_where_the_activation_puts_it():
    case = next(case for case in _cases("quantized_add"))
    arguments = named_arguments(case)
    result = reference(case)
    assert rail_share(result, {**arguments, "activation_min": int(result.max())}) == 1.0
    assert rail_share(result, {**arguments, "activation_min": -128, "activation_max": int(result.min())}) == 1.0


def test_drawn_cases_are_the_same_in_every_run():
    def draw() -> list[str]:
        return [str(case) for strategy, count in pooling.draws() for case in registry.drawn(strategy, count)]

    assert draw() == draw()
