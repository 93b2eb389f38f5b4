"""Data movement between quantized layers: on int8, with the very bytes that PyTorch's movement of them gives."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.passes.movement_cases import (
    ALL,
    CIRCULAR,
    IMAGES,
    PARAMETERS,
    SHAPE,
    SHUFFLES,
    Between,
    Network,
    image,
)
from cortex_m.passes.recipe import lower, quantize_and_lower

_BOUNDARIES = ("quantize_per_tensor", "dequantize_per_tensor", "quantize_to_nhwc", "dequantize_from_nhwc")


def assert_integers_between(report):
    assert not report.refusals, report
    for instruction in report.instructions:
        boundary = instruction.op.split("::")[1] in _BOUNDARIES
        assert boundary or instruction.dtype in ("int8", "bool", "int64"), report


def by_case(results):
    """Results of `Between(*ALL.values())`, a list of tensors for each case."""
    results = iter(results)
    x = image(*SHAPE)
    lengths = {
        name: 1 if isinstance(result := function(x), torch.Tensor) else len(result) for name, function in ALL.items()
    }
    return {name: [next(results) for _ in range(length)] for name, length in lengths.items()}


@pytest.fixture(scope="module", params=[PARAMETERS, None], ids=["quantized after", "float after"])
def together(request):
    """All cases as one program: its results and PyTorch's, by case."""
    x = image(*SHAPE)
    lowered = lower(Between(*ALL.values(), after=request.param), x, strict=True)
    assert_integers_between(lowered.report)
    return by_case(lowered.run(x)), by_case(lowered.reference(x))


@pytest.mark.parametrize("name", ALL)
def test_movement_is_exact_on_int8(together, name):
    program, torch_results = together
    for got, want in zip(program[name], torch_results[name], strict=True):
        assert got.dtype == want.dtype and torch.equal(got, want)


def test_images_stay_nhwc_between_convolutions():
    """By the whole recipe: no transpose and no float op; two steps of the output, as each convolution rounds once."""
    torch.manual_seed(1)
    cases = {**IMAGES, **CIRCULAR, **SHUFFLES}
    x = image(*SHAPE)
    lowered = quantize_and_lower(Network(list(cases.values()), SHAPE), x, tune=False, strict=True)
    assert_integers_between(lowered.report)
    assert lowered.ops.count("quantized_conv2d_nhwc") == 1 + len(cases), lowered.report
    assert len(lowered.report.layout_copies) == len(SHUFFLES), lowered.report
    assert lowered.ops[0] == "quantize_to_nhwc", lowered.report
    assert sum("dequantize" in op for op in lowered.ops) == len(cases), lowered.report
    for name, got, want in zip(cases, lowered.run(x), lowered.reference(x), strict=True):
        assert got.shape == want.shape, name
        step = float(got.unique().diff().min())
        assert float((got - want).abs().max()) <= step * 2.001, name


class Block(nn.Module):
    """A step of a U-Net: down, up, and back together."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.last = nn.Conv2d(20, 4, 3, padding=1)

    def forward(self, x):
        kept = F.relu(self.first(x))
        deep = F.relu(self.down(kept))
        return self.last(torch.cat([kept, F.interpolate(deep, scale_factor=2)], 1))


def test_a_unet_block_needs_no_transpose():
    torch.manual_seed(0)
    x = image(1, 3, 8, 8)
    lowered = quantize_and_lower(Block(), x, strict=True)
    assert lowered.ops == [
        "quantize_to_nhwc", "quantized_conv2d_nhwc", "quantized_conv2d_nhwc", "index_select", "index_select", "cat",
        "quantized_conv2d_nhwc", "dequantize_from_nhwc",
    ], lowered.report  # fmt: skip
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert float((got - want).abs().max()) <= float(got.unique().diff().min()) * 1.001


def test_parts_that_nobody_reads_are_not_made():
    x = image(1, 6, 4)
    lowered = lower(Between(lambda x: x.split(2, 1)[2]), x)
    assert lowered.ops == ["quantize_per_tensor", "slice_copy", "dequantize_per_tensor"]


def test_another_scale_after_a_cat_is_requantized_once_an_operand():
    x = image(2, 3)
    lowered = lower(Between(lambda x: torch.cat([x, x.flip(0)]), after=(0.05, 0)), x, strict=True)
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert torch.equal(got, want)
    assert "cat" in lowered.ops


def test_float_ops_between_stay_refusals():
    x = image(2, 3)
    lowered = lower(Between(lambda x: torch.cat([x, x.cumsum(1)])), x)
    assert [refusal.op for refusal in lowered.report.refusals] == ["aten.cumsum.default"]


class Accumulates(nn.Module):
    """Sums of what lies in one place: overlapping patches, and values with equal indices."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(torch.tanh(x))


SUMS = {
    "fold": (lambda y: F.fold(y, (4, 4), 2), (1, 8, 9)),
    "index_put": (lambda y: y.index_put((torch.tensor([0, 0, 2]),), y[:3], accumulate=True), (4, 12)),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_into_a_tensor_is_no_movement(name):
    """The sum of integers is not the integer of the sum, wherever the zero point is not 0."""
    function, shape = SUMS[name]
    model, x = Accumulates(function), torch.rand(shape, generator=torch.Generator().manual_seed(0)) * 3 - 1
    lowered = quantize_and_lower(model, x)
    (got,), want = lowered.run(x), model(x)
    assert float((got - want).abs().max()) < 0.05
    assert any(refusal.op.startswith("aten.index_put") for refusal in lowered.report.refusals)
