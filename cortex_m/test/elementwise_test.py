"""Every pair of int8 values through each elementwise operator, and int16 division, on cores and on this machine: the reference's bits.

The second operand is a row and the first a column, so that the 65,536 pairs come of broadcasting.
"""

import pytest
import torch
from torch import nn
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.passes.recipe import lower, lower_exported, round_trip
from cortex_m.quantizer.quantization_configs import INT16_PER_TENSOR_CONFIG
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.test.device import Device

CORES = ["host", "cortex_m55", "cortex_m4"]
LEFT, RIGHT = (0.021, 5), (0.017, -100)
PAIRS = {
    "quantized_add": (lambda x, y: torch.add(x, y, alpha=-2), (0.05, 3)),
    "quantized_mul": (torch.mul, (0.04, -9)),
    "quantized_div": (torch.div, (0.05, 3)),
    "minimum": (torch.minimum, LEFT),
    "maximum": (torch.maximum, LEFT),
    "quantized_activation": (lambda x, y: torch.sigmoid(x) * 2 - 1, (0.008, 0)),
}


class Function(nn.Module):
    def __init__(self, function, before, after):
        super().__init__()
        self.function, self.before, self.after = function, before, after

    def forward(self, x, y):
        return round_trip(self.function(round_trip(x, *LEFT), round_trip(y, *self.before)), *self.after)


def every_pair(name):
    """(.pte, inputs): the column of all left values and the row of all right ones."""
    function, after = PAIRS[name]
    before = LEFT if name in ("minimum", "maximum") else RIGHT
    stored = torch.arange(-128, 128, dtype=torch.float32)
    inputs = ((stored - LEFT[1])[:, None] * LEFT[0], (stored - before[1]) * before[0])
    lowered = lower(Function(function, before, after), *inputs)
    assert name in lowered.ops
    return lowered.data, inputs


def every_value_of_each_channel():
    """(.pte, inputs) of a PReLU: all stored values in each of seven channels, as many as leave a vector partly filled."""
    slopes = torch.tensor([0.25, -0.5, 0.0, 1.5, 1.0, 0.01, -0.003])
    stored = torch.arange(-128, 128, dtype=torch.float32)[:, None].expand(256, 7)
    inputs = ((stored - LEFT[1]) * LEFT[0], torch.zeros(1))
    lowered = lower(Function(lambda x, y: nn.functional.prelu(x, slopes), LEFT, (0.025, -9)), *inputs)
    assert "quantized_prelu" in lowered.ops
    return lowered.data, inputs


def int16_division():
    class Divide(nn.Module):
        def forward(self, x, y):
            return x / y

    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(40, 50, generator=generator), 1.5 + torch.rand(50, generator=generator)
    quantizer = CortexMQuantizer(INT16_PER_TENSOR_CONFIG)
    prepared = prepare_pt2e(export(Divide(), inputs).module(), quantizer)
    prepared(*inputs)
    lowered = lower_exported(export(convert_pt2e(prepared), inputs))
    assert lowered.ops == ["quantize_per_tensor", "quantize_per_tensor", "quantized_div", "dequantize_per_tensor"]
    assert not lowered.report.refusals
    error = lowered.run(*inputs)[0] - Divide()(*inputs)
    assert float(error.abs().max()) < 3e-4  # 16 bits of a range of 3
    return lowered.data, inputs


@pytest.fixture(scope="module")
def cases():
    return [*(every_pair(name) for name in PAIRS), every_value_of_each_channel(), int16_division()]


@pytest.mark.parametrize("core", CORES)
def test_the_device_gives_the_bits_of_the_reference(core, cases):
    for (data, inputs), result in zip(cases, Device(core).run(cases), strict=True):
        assert result.error is None
        (want,) = ReferenceProgram(data).run(inputs)
        assert torch.equal(result.outputs[0], want)
        rails = (want == want.min()).float().mean() + (want == want.max()).float().mean()
        assert float(rails) < 0.5
