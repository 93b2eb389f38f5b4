"""Convolutions, pools and means from the PyTorch module to the .pte, against the quantized graph in PyTorch's float arithmetic."""

import pytest
import torch
from torch import nn

from cortex_m.passes.recipe import quantize_and_lower


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def image(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def _sequence():
    return nn.Sequential(
        nn.Conv1d(3, 4, 3), nn.ReLU(), nn.Conv1d(4, 4, 3, groups=4, padding="same"), nn.BatchNorm1d(4), nn.MaxPool1d(2),
        nn.ConvTranspose1d(4, 3, 4, 2, output_padding=1), nn.AvgPool1d(3, 2, 1), nn.Flatten(), nn.Linear(21, 4),
    )  # fmt: skip


CONV, DEPTHWISE, TRANSPOSED = (f"quantized_{kind}conv2d_nhwc" for kind in ("", "depthwise_", "transpose_"))
MAX, AVG = "quantized_max_pool2d_nhwc", "quantized_avg_pool2d_nhwc"

# name: (module, input, operators without those at the boundaries)
CASES = {
    "one dimension throughout": (
        _sequence(), image(2, 3, 12), ["transpose", CONV, DEPTHWISE, MAX, TRANSPOSED, "pad", AVG, "quantized_linear_per_channel"],
    ),
    "no batch": (nn.Conv2d(3, 4, 3, padding=1), image(3, 5, 6), ["transpose", CONV, "transpose"]),
    "transposed": (nn.ConvTranspose2d(3, 5, 3, 2, 1, 1), image(2, 3, 4, 5), [TRANSPOSED]),
    "transposed, groups, dilation, uneven": (
        nn.Sequential(nn.ConvTranspose2d(4, 6, 3, (2, 3), (1, 0), (1, 0), groups=2, dilation=(1, 2)), nn.ReLU6()),
        image(2, 4, 4, 5), [TRANSPOSED],
    ),
    "transposed, depthwise, no bias": (
        nn.Sequential(nn.ConvTranspose2d(4, 8, 3, 2, 1, groups=4, bias=False), nn.Hardtanh(-0.3, 0.4)), image(1, 4, 4, 5), [TRANSPOSED],
    ),
    "transposed, batch norm": (
        nn.Sequential(nn.ConvTranspose2d(3, 4, 2, 2), nn.BatchNorm2d(4), nn.ReLU()), image(1, 3, 4, 5), [TRANSPOSED],
    ),
    "zeros before": (nn.Sequential(nn.ZeroPad2d(1), nn.Conv2d(3, 4, 3)), image(2, 3, 6, 7), [CONV]),
    "zeros before, with padding, uneven": (
        nn.Sequential(nn.ZeroPad2d((1, 1, 2, 2)), nn.Conv2d(3, 4, 5, (2, 1), padding=(2, 1))), image(1, 3, 8, 7), [CONV],
    ),
    "zeros before, depthwise, dilation": (
        nn.Sequential(nn.ZeroPad2d(2), nn.Conv2d(4, 4, 3, 2, groups=4, dilation=2)), image(1, 4, 8, 8), [DEPTHWISE],
    ),
    "zeros before, one dimension": (nn.Sequential(nn.ConstantPad1d(2, 0), nn.Conv1d(3, 4, 5)), image(1, 3, 9), ["transpose", CONV, "transpose"]),
    "zeros on one side": (nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(3, 4, 3, 2)), image(1, 3, 8, 8), ["pad", CONV]),
    "zeros before, wider than the kernel": (nn.Sequential(nn.ZeroPad2d(3), nn.Conv2d(3, 4, 3)), image(1, 3, 6, 6), ["pad", CONV]),
    "ones before": (nn.Sequential(nn.ConstantPad2d(1, 1.0), nn.Conv2d(3, 4, 3)), image(1, 3, 6, 6), ["pad", CONV]),
    "zero channels before": (
        nn.Sequential(nn.ConstantPad3d((0, 0, 0, 0, 1, 1), 0), nn.Conv2d(5, 4, 3)), image(1, 3, 6, 6), ["pad", CONV],
    ),
    "zeros before, transposed": (nn.Sequential(nn.ZeroPad2d(1), nn.ConvTranspose2d(3, 4, 3)), image(1, 3, 4, 4), ["pad", TRANSPOSED]),
    "max": (nn.MaxPool2d(3, 2, 1, ceil_mode=True), image(2, 3, 6, 7), [MAX]),
    "max, dilation, clamp": (
        nn.Sequential(nn.Conv2d(3, 4, 1), nn.MaxPool2d(2, 1, 1, 2), nn.ReLU()), image(1, 3, 6, 6), [CONV, MAX],
    ),
    "adaptive max": (nn.AdaptiveMaxPool2d((2, 3)), image(1, 3, 8, 6), [MAX]),
    "average, padding not counted": (nn.AvgPool2d(3, 2, 1, True, False), image(1, 3, 6, 9), [AVG]),
    "average, no padding": (nn.AvgPool2d(2, ceil_mode=True), image(1, 3, 5, 5), [AVG]),
    "average, ceil_mode, padding counted": (nn.AvgPool2d(3, 2, 1, True), image(1, 3, 6, 9), ["pad", AVG]),
    "average, ceil_mode drops a window": (nn.AvgPool2d(4, 3, 2, True), image(1, 3, 4, 5), ["pad", AVG]),
    "divisor": (nn.AvgPool2d(2, divisor_override=3), image(1, 3, 6, 8), [DEPTHWISE]),
    "divisor, ceil_mode": (
        nn.AvgPool2d(3, 2, 1, True, divisor_override=7), image(1, 3, 6, 9), ["pad", DEPTHWISE],
    ),
    "mean of the last dim": (Function(lambda x: x.mean(-1)), image(2, 3, 5), [AVG]),
    "mean of a middle dim": (Function(lambda x: x.mean(1, keepdim=True)), image(2, 5, 3), [AVG]),
    "mean of rows": (Function(lambda x: x.mean(2, keepdim=True)), image(2, 3, 5, 4), [AVG]),
    "mean of distant dims": (Function(lambda x: x.mean((1, 3))), image(2, 3, 5, 6), ["transpose", AVG]),
    "mean of rank 5": (Function(lambda x: x.mean((1, 2))), image(2, 3, 2, 2, 4), [AVG]),
    "mean of all": (Function(lambda x: torch.softmax(x, 1).mean()), image(2, 3), ["softmax", AVG]),
    "softmax over channels": (
        nn.Sequential(nn.Conv2d(3, 4, 1), nn.Softmax(1)), image(2, 3, 5, 6), [CONV, "softmax"],
    ),
    "softmax over rows": (nn.Softmax(-2), image(2, 3, 5), ["transpose", "softmax", "transpose"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_windows(name):
    module, x, ops = CASES[name]
    torch.manual_seed(1)
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -0.5, 0.5)
    lowered = quantize_and_lower(module, x, calibration=[(x,), (-0.8 * x,)])
    assert not lowered.report.refusals, lowered.report
    boundaries = ("quantize_per_tensor", "dequantize_per_tensor", "quantize_to_nhwc", "dequantize_from_nhwc")
    assert [op for op in lowered.ops if op not in boundaries] == ops
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    scale = [node for node in lowered.edge.graph.nodes if "dequantize" in str(node.target)][-1].args[1]
    assert got.shape == want.shape
    # A step a layer: PyTorch rounds halves to even, means round them away from zero, requantization twice.
    layers = sum(op.startswith("quantized") for op in ops)
    assert float((got - want).abs().max()) <= max(layers, 1) * scale * 1.001
    rails = float(((want == want.min()) | (want == want.max())).float().mean())
    assert want.numel() < 9 or rails < 0.7


def test_a_softmax_keeps_its_fixed_parameters():
    lowered = quantize_and_lower(nn.Softmax(1), image(2, 6))
    assert lowered.ops == ["quantize_per_tensor", "softmax", "dequantize_per_tensor"]
    (dequantize,) = [node for node in lowered.edge.graph.nodes if "dequantize" in str(node.target)]
    assert dequantize.args[1:3] == (1 / 256, -128)
