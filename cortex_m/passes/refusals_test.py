"""What cannot be lowered exactly stays float, computes the right thing, and is reported with its reason and source line."""

import json

import pytest
import torch
from torch import nn

from cortex_m.passes.cortex_m_pass_manager import LoweringError
from cortex_m.passes.recipe import lower, round_trip
from cortex_m.passes.refusal_text import refusal_text
from cortex_m.passes.report import Refusal

_decomposed = torch.ops.quantized_decomposed
IN, OUT = (0.021, 5), (0.033, -9)


def image(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class Linear(nn.Module):
    """A linear layer with chosen int8 weights, zero point, input and output parameters."""

    def __init__(self, weight, zero_point=0, weight_scale=0.01, before=IN, after=OUT, bias=None):
        super().__init__()
        self.register_buffer("weight", weight)
        self.zero_point, self.weight_scale, self.before, self.after, self.bias = (
            zero_point, weight_scale, before, after, bias,
        )  # fmt: skip

    def forward(self, x):
        weight = _decomposed.dequantize_per_tensor(
            self.weight, self.weight_scale, self.zero_point, -128, 127, torch.int8
        )
        return round_trip(nn.functional.linear(round_trip(x, *self.before), weight, self.bias), *self.after)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def prelu(slopes, after=OUT):
    return Function(lambda x: round_trip(nn.functional.prelu(round_trip(x, *IN), slopes(x)), *after))


WEIGHT = torch.randint(-127, 128, (4, 6), generator=torch.Generator().manual_seed(3), dtype=torch.int8)

REFUSED = {
    "its weights have a zero point other than 0": (Linear(WEIGHT, zero_point=3), (2, 6)),
    "its input 0 is not quantized": (
        Function(lambda x: round_trip(nn.functional.avg_pool2d(x, 2), *OUT)), (1, 2, 4, 4),
    ),
    "its output is not quantized": (Function(lambda x: nn.functional.avg_pool2d(round_trip(x, *IN), 2)), (1, 2, 4, 4)),
    "windows of different sizes": (
        Function(lambda x: round_trip(nn.functional.adaptive_avg_pool2d(round_trip(x, *IN), 3), *IN)), (1, 2, 5, 5),
    ),
    "a product of vectors": (
        Function(lambda x: round_trip(torch.matmul(round_trip(x, *IN), round_trip(x[0], *IN)), *OUT)), (3, 4),
    ),
    "different ways by turns": (
        Function(
            lambda x: round_trip(
                torch.matmul(round_trip(x, *IN).reshape(2, 1, 2, 3, 3), round_trip(x, *IN).reshape(1, 4, 1, 3, 3)), *OUT
            )
        ), (2, 2, 3, 3),
    ),
    "can leave int32": (
        Function(lambda x: round_trip(torch.matmul(round_trip(x, *IN), round_trip(x.t(), *IN)), *OUT)), (1, 140000),
    ),
    "the indices of its maxima are read": (
        Function(lambda x: nn.functional.max_pool2d(round_trip(x, *IN), 2, return_indices=True)[1]), (1, 2, 4, 4),
    ),
    "its slopes are not constant": (prelu(lambda x: x[0]), (2, 3)),
    "channel 1: a requantization factor must be finite": (prelu(lambda x: torch.tensor([0.5, float("inf"), 1.0])), (2, 3)),
    "shifts an int8 value out of int32": (prelu(lambda x: torch.tensor([0.5, 0.1, 1.0]), after=(1e-9, 0)), (2, 3)),
    "no lowering to a cortex_m op is registered": (
        Function(lambda x: round_trip(torch.lgamma(round_trip(x, *IN)), *OUT)), (2, 3),
    ),
    "can reach": (Linear(torch.full((2, 140000), 127, dtype=torch.int8), weight_scale=1e-6), (1, 140000)),
    "does not fit an int32": (Linear(WEIGHT, weight_scale=1e-9, bias=torch.tensor([1.0, 2.0, 3.0, 4.0])), (2, 6)),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals(reason):
    module, shape = REFUSED[reason]
    x = image(*shape)
    lowered = lower(module, x)
    assert any(reason in refusal.reason for refusal in lowered.report.refusals), lowered.report
    assert all("_test.py:" in refusal.source for refusal in lowered.report.refusals), lowered.report
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert got.shape == want.shape
    step = OUT[0] if got.dtype == torch.float32 else 1
    assert float((got - want).abs().max()) <= step * 1.001
    assert reason in str(lowered.report)


@pytest.mark.parametrize("reason", REFUSED)
def test_strict_raises_with_the_reason(reason):
    module, shape = REFUSED[reason]
    with pytest.raises(LoweringError, match="strict lowering found ops that would run outside cortex_m: ") as error:
        lower(module, image(*shape), strict=True)
    assert reason in str(error.value)


def test_strict_accepts_what_is_lowered():
    lower(Linear(WEIGHT), image(2, 6), strict=True)


def test_constants_of_a_refused_layer_are_dequantized_on_the_host():
    lowered = lower(Linear(WEIGHT, zero_point=3), image(2, 6))
    assert not any("per_channel" in op for op in lowered.ops)
    assert lowered.ops.count("dequantize_per_tensor") == 2


def test_a_refusal_is_a_line_for_each_place():
    """Two lines of the user's with many operators: two lines of text, then what permits them."""
    many = [Refusal(f"n{i}", f"aten.{op}.default", "its input 0 is not quantized", "rnn", "net.py:9, in forward")
            for i, op in enumerate(["add", "mul", "tanh"] * 7 + ["sigmoid", "sub", "cat"])]  # fmt: skip
    one = Refusal(
        "t", "aten.topk.default", "no lowering to a cortex_m op is registered for it", "", "net.py:10, in forward"
    )
    gru = "gru (aten.gru.input): no int8 pattern has this operator"
    lines = refusal_text([*many, one], {"net.py:9": [gru]}).splitlines()
    assert lines[:-1] == [
        f"  net.py:9, in forward (rnn): aten::add x7, aten::mul x7, aten::tanh x7, aten::sigmoid, 2 more: {gru}",
        "  net.py:10, in forward: aten::topk: no lowering to a cortex_m op is registered for it",
    ]
    allowed = json.loads(lines[-1].removeprefix("To let them run in float: allow_fallback = "))
    assert allowed == [f"aten::{op}" for op in ("add", "cat", "mul", "sigmoid", "sub", "tanh", "topk")]
