"""SQNR of layers, against float values that the module itself gives through forward hooks."""

import math

import pytest
import torch
from torch import nn

from cortex_m.analysis.accuracy import MAX_SAMPLES
from cortex_m.export import ModelSource, export_model
from cortex_m.host.interpreter import ReferenceProgram

LAYERS = {"stem": "relu", "depthwise": "clamp", "head": "head"}


class Net(nn.Module):
    """Channels of very different ranges, so that they are equalized."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.relu = nn.ReLU()
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.clamp = nn.ReLU6()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(8, 4)
        with torch.no_grad():
            self.stem.weight.mul_(torch.logspace(-2, 1, 8).view(8, 1, 1, 1))
            # Each channel counts in the outputs, so that there is something to gain.
            self.depthwise.weight.div_(torch.logspace(-2, 1, 8).view(8, 1, 1, 1))

    def forward(self, x):
        x = self.relu(self.stem(x))
        x = self.clamp(self.depthwise(x))
        return self.head(self.pool(x).flatten(1))


def decibels(signal: torch.Tensor, noise: torch.Tensor) -> float:
    return 10 * math.log10(float(signal.double().square().sum()) / float(noise.double().square().sum()))


@pytest.fixture(scope="module")
def exported():
    torch.manual_seed(0)
    net = Net().eval()
    samples = [(torch.randn(1, 3, 8, 10),) for _ in range(9)]
    return net, samples, export_model(ModelSource(net, samples[0], samples[1:]))


def float_values(net, inputs) -> dict[str, torch.Tensor]:
    """What each submodule gave."""
    values: dict[str, torch.Tensor] = {}
    hooks = [
        module.register_forward_hook(lambda _module, _args, output, name=name: values.update({name: output.detach()}))
        for name, module in net.named_modules()
    ]
    with torch.no_grad():
        net(*inputs)
    for hook in hooks:
        hook.remove()
    return values


def test_layers_are_compared_with_the_modules_own_values(exported):
    net, samples, result = exported
    factors = result.quantizer_report.tuner.channel_factors
    assert factors, "nothing was equalized: the test would not see a forgotten factor"
    # The int8 values of each layer, in real numbers and NCHW, of all samples.
    rows = {row.module: row for row in result.lowering_report.instructions if row.module in LAYERS}
    used = [samples[0], *samples[1:MAX_SAMPLES]]
    signal, noise = dict.fromkeys(LAYERS, 0.0), dict.fromkeys(LAYERS, 0.0)
    for inputs in used:
        reals = float_values(net, inputs)

        def check(call):
            for layer, row in rows.items():
                if row.index != call.index or row.op not in call.op:
                    continue
                given = (call.outputs[0].double() - row.value.zero_point) * row.value.scale
                given = given.permute(0, 3, 1, 2) if given.dim() == 4 else given
                factor = factors.get(row.value.node)
                if factor is not None:
                    given = given / factor.double().view(1, -1, *[1] * (given.dim() - 2))
                real = reals[LAYERS[layer]].double()
                signal[layer] += float(real.square().sum())
                noise[layer] += float((real - given).square().sum())

        ReferenceProgram(result.program).run(inputs, check)
    measured = {layer.index: layer for layer in result.accuracy.layers()}
    assert result.accuracy.samples == len(used)
    for name, row in rows.items():
        assert measured[row.index].sqnr_db == pytest.approx(10 * math.log10(signal[name] / noise[name]), abs=1e-4), name
        assert measured[row.index].sqnr_db > 25.0, name


def test_every_instruction_has_a_value_and_worst_comes_first(exported):
    _, _, result = exported
    layers = result.accuracy.layers()
    assert sorted(layer.index for layer in layers) == [row.index for row in result.lowering_report.instructions]
    assert [layer.sqnr_db for layer in layers] == sorted(layer.sqnr_db for layer in layers)


def test_last_layer_has_the_accuracy_of_the_output():
    torch.manual_seed(0)
    net, inputs = Net().eval(), (torch.randn(1, 3, 8, 10),)
    result = export_model(ModelSource(net, inputs))
    last = max(result.accuracy.layers(), key=lambda layer: layer.index)
    assert (result.accuracy.samples, last.sqnr_db) == (1, pytest.approx(result.sqnr_db, abs=1e-6))


class Movements(nn.Module):
    """Values that move in int8, in both layouts, and one part that stays float."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)

    def forward(self, x):
        y = self.conv(x)
        y = self.up(torch.cat([y, y.flip(2)], 1))
        y = nn.functional.interpolate(y, scale_factor=2, mode="nearest")
        return torch.cumsum(y.permute(0, 2, 3, 1).reshape(1, -1, 4), 1), y


def test_movements_and_float_operators_have_their_values():
    """Where a value were taken for another's, or in another order, little would be left of the signal."""
    torch.manual_seed(0)
    result = export_model(ModelSource(Movements().eval(), (torch.randn(1, 4, 6, 6),)))
    layers = result.accuracy.layers()
    assert {"aten::cat", "aten::cumsum"} <= {layer.op for layer in layers}
    for layer in layers:
        assert layer.sqnr_db > 25.0, layer
    rows = result.accuracy.to_json()
    assert rows["samples"] == 1 and len(rows["layers"]) == len(layers)
