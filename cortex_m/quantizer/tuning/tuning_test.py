"""Each step of tuning against what it promises: same function, less noise, mean error gone."""

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import quantize, sqnr_db
from cortex_m.quantizer.tuning.ceilings import ceilings
from cortex_m.quantizer.tuning.equalize import find_groups, rescale
from cortex_m.quantizer.tuning.factors import WEIGHT_NOISE_LEFT, ChannelStatistics, _Noise, channel_factors
from cortex_m.quantizer.tuning.rounding import columns, round_weights


class Network(nn.Module):
    """Stem, two inverted residuals on one stream, pooling, linear: every kind of group."""

    def __init__(self, act: type[nn.Module] = nn.ReLU6):
        super().__init__()
        self.act = act()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.expand = nn.Conv2d(8, 16, 1)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.project = nn.Conv2d(16, 8, 1)
        self.grouped = nn.Conv2d(8, 12, 1, groups=2)
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        stream = self.stem(x)
        stream = stream + self.project(self.act(self.depthwise(self.act(self.expand(stream)))))
        return self.fc(self.act(self.grouped(stream)).mean([2, 3]))


def prepared_network(act=nn.ReLU6, calibrate=True):
    torch.manual_seed(3)
    model, x = Network(act).eval(), torch.randn(1, 3, 6, 6)
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), CortexMQuantizer())
    if calibrate:
        prepared(x)
    return model, prepared, x


def test_groups_are_the_tensors_between_layers():
    _, prepared, _ = prepared_network()
    groups = {tuple(sorted(node.name for node in group.makers)): group for group in find_groups(prepared)}
    # stem and project share the residual stream; the input image and the output belong to nobody.
    assert set(groups) == {("conv2d", "conv2d_3"), ("conv2d_1",), ("conv2d_2",), ("conv2d_4",)}
    stream = groups["conv2d", "conv2d_3"]
    assert {node.name for node in stream.readers} == {"conv2d_1", "conv2d_4"} and not stream.clamps
    assert [bound for _, bound in groups["conv2d_1",].clamps] == [6.0]


@pytest.mark.parametrize("act", [nn.ReLU, nn.ReLU6])
def test_rescaling_keeps_the_function(act):
    model, prepared, x = prepared_network(act)
    expected = model(x)
    assert expected.abs().max() > 0.1
    for group in find_groups(prepared):
        channels = group.makers[0].meta["val"].shape[1]
        scale = 0.2 + 2 * torch.rand(channels)
        if any(bound < float("inf") for _, bound in group.clamps):
            scale = torch.full((channels,), 1.0) + 0.2 * torch.rand(channels)  # nothing here comes near 6
        if not group.clamps:
            scale[::2] *= -1
        rescale(prepared, group, scale)
    torch.testing.assert_close(prepared(x), expected, rtol=1e-4, atol=1e-5)


def _statistics(low, high):
    low, high = torch.tensor(low), torch.tensor(high)
    return ChannelStatistics(low, high, (high - low).square() / 12)


def test_factors_align_ranges_and_tails():
    _, prepared, _ = prepared_network()
    groups = find_groups(prepared)
    (stream,) = [group for group in groups if len(group.makers) == 2]
    low = [-1.0, -0.1, -8.0, -1.0, -0.5, -1.0, -1.0, 0.0]
    high = [8.0, 0.8, 1.0, 8.0, 4.0, 8.0, 8.0, 0.0]
    statistics = {node: _statistics(low, high) for node in stream.tensors}
    scale = channel_factors(prepared, stream, groups, statistics, {})
    # The third channel points down and is turned; the second and fifth are narrow; the last is dead.
    assert scale[2] < 0 and scale[-1] == 1 and (scale[[0, 1, 3, 4, 5, 6]] > 0).all()
    assert scale[1] / scale[0] > 3 and 1.2 < scale[4] / scale[0] < 3
    plain = _statistics(low, high).scaled(torch.ones(8))
    tuned = statistics[stream.tensors[0]].scaled(scale)
    assert (tuned[1] - tuned[0]) / scale.abs().mean() < 0.75 * (plain[1] - plain[0])


@pytest.mark.parametrize("groups", [1, 2])
def test_noise_gradient_is_that_of_autograd(groups):
    torch.manual_seed(4)
    channels, outputs = 6, 10
    low, high = -torch.rand(2, channels), torch.rand(2, channels)
    importance = torch.rand(channels)
    weight, square = torch.rand(groups, outputs // groups, channels // groups), torch.rand(groups, channels // groups)
    logs = torch.randn(channels).requires_grad_()
    scale = logs.exp()
    steps = ((scale * high).amax(1) - (scale * low).amin(1)) / 255
    expected = steps.square().sum() * (importance / scale.square()).sum()
    by_group = scale.view(groups, -1)
    weight_steps = (weight / by_group[:, None]).amax(2) / 127
    signal = (by_group.square() * square).sum(1, keepdim=True)
    expected = expected + WEIGHT_NOISE_LEFT * (weight_steps.square() * signal).sum()
    expected.backward()
    value, gradient = _Noise(low, high, importance, [(weight, square)]).value_and_gradient(logs.detach())
    torch.testing.assert_close(value, expected.detach())
    torch.testing.assert_close(gradient, logs.grad)


def test_factors_below_a_clamp_stay_below_its_bound_for_every_input():
    _, prepared, _ = prepared_network()
    groups = find_groups(prepared)
    by_maker = {node.name: group for group in groups for node in group.makers}
    expanded, depthwise = by_maker["conv2d_1"], by_maker["conv2d_2"]
    limits = ceilings(prepared, groups)
    # Nothing bounds what the expansion reads; the depthwise layer reads values from 0 to 6.
    assert set(limits) == {clamp for clamp, _ in depthwise.clamps}
    layer = prepared.depthwise
    largest = F.conv2d(6.0 * torch.ones(1, 16, 3, 3), layer.weight.clamp(min=0), layer.bias, groups=16).flatten()
    (limit,) = limits.values()
    torch.testing.assert_close(limit.float(), largest)
    for group, room in ((expanded, torch.zeros(16)), (depthwise, (6 / limit).clamp(min=1).log().float())):
        high = [0.5 + 0.25 * index for index in range(16)]
        statistics = {node: _statistics([0.0] * 16, high) for node in group.tensors}
        scale = channel_factors(prepared, group, groups, statistics, limits)
        assert (scale >= 1).all() and (scale.log() <= room + 1e-6).all()
    assert scale.max() > 1.5


def correlated(groups: int, size: int, positions: int) -> torch.Tensor:
    """[groups, size, positions] inputs that are alike, with a mean, as images have them."""
    common = torch.randn(groups, 1, positions)
    return 0.4 * torch.randn(groups, size, positions) + common + 0.7


def _noise(difference: torch.Tensor, x: torch.Tensor) -> float:
    """Power of the varying part of the output error."""
    centred = (x - x.mean(-1, keepdim=True)).double()
    return float((difference.double() @ centred).square().mean())


def _nearest(weight: torch.Tensor, scale: torch.Tensor, limit: int) -> torch.Tensor:
    return (weight / scale[:, None]).round().clamp(-limit, limit) * scale[:, None]


def test_rounding_beats_nearest():
    torch.manual_seed(5)
    x, weight = correlated(1, 48, 2000), torch.randn(64, 48)
    scale = weight.abs().amax(1) / 127
    rounded = round_weights(weight, scale, x, 127)
    # Errors that add up over 48 like inputs cancel instead.
    assert _noise(rounded - weight, x[0]) < 0.25 * _noise(_nearest(weight, scale, 127) - weight, x[0])


def test_rounding_comes_near_the_best_of_all():
    torch.manual_seed(5)
    ratios = []
    for _ in range(20):
        x, weight = correlated(1, 6, 400), torch.randn(1, 6)
        scale = weight.abs().amax(1) / 7  # coarse, so that every step matters
        rounded = round_weights(weight, scale, x, 7)
        floor = (weight / scale).floor()
        best = min(
            _noise((floor + torch.tensor(step)).clamp(-7, 7) * scale - weight, x[0])
            for step in itertools.product((0.0, 1.0), repeat=6)
        )
        ratios.append(_noise(rounded - weight, x[0]) / best)
        assert _noise(rounded - weight, x[0]) <= 1.001 * _noise(_nearest(weight, scale, 7) - weight, x[0])
    assert torch.tensor(ratios).median() < 1.5


@pytest.mark.parametrize("groups", [1, 4])
def test_rounded_weights_are_steps(groups):
    torch.manual_seed(6)
    x, weight = correlated(groups, 9, 300), torch.randn(8, 9)
    scale = weight.abs().amax(1) / 127
    rounded = round_weights(weight, scale, x, 127)
    steps = rounded / scale[:, None]
    torch.testing.assert_close(steps, steps.round(), rtol=0, atol=1e-4)
    assert steps.abs().max() <= 127.001


@pytest.mark.parametrize(("groups", "stride", "padding", "dilation"), [(1, 1, 1, 1), (2, 2, 0, 1), (6, 1, (2, 1), 2)])
def test_columns_times_weight_is_the_layer(groups, stride, padding, dilation):
    torch.manual_seed(7)
    layer = nn.Conv2d(6, 12, 3, stride, padding, dilation, groups, bias=False)
    inputs = [torch.randn(2, 6, 9, 8), torch.randn(2, 6, 9, 8)]
    graph = torch.export.export(layer, (inputs[0],)).module().graph
    (node,) = [n for n in graph.nodes if n.target is torch.ops.aten.conv2d.default]
    x = columns(node, layer.weight, inputs)
    out = layer.weight.view(groups, 12 // groups, -1) @ x
    expected = torch.cat([layer(value).permute(1, 0, 2, 3).reshape(12, -1) for value in inputs], 1)
    torch.testing.assert_close(out.reshape(12, -1), expected, rtol=1e-4, atol=1e-5)


def spread_network() -> tuple[nn.Module, list[torch.Tensor]]:
    """A network whose layers make channels of ranges up to 300 apart, which the next layer takes back."""
    torch.manual_seed(8)
    model = Network(nn.ReLU).eval()
    with torch.no_grad():
        for maker, reader in ((model.expand, model.depthwise), (model.depthwise, model.project)):
            factor = torch.logspace(-2.5, 0, 16)[torch.randperm(16)]
            maker.weight.mul_(factor.view(-1, 1, 1, 1))
            maker.bias.mul_(factor)
            shape = (-1, 1, 1, 1) if reader is model.depthwise else (1, -1, 1, 1)
            reader.weight.div_(factor.view(shape))
        for layer in (model.grouped, model.fc):  # or the output is mostly bias
            layer.bias.zero_()
    return model, [torch.randn(1, 3, 12, 12) + 0.5 * torch.randn(1, 3, 1, 1) for _ in range(12)]


def test_tuning_gains_on_samples_it_has_not_seen():
    model, samples = spread_network()
    calibration, unseen = [(x,) for x in samples[:8]], samples[8:]

    def quality(tune: bool) -> float:
        converted, _ = quantize(model, *calibration, quantizer=CortexMQuantizer(tune=tune))
        with torch.no_grad():
            return sum(sqnr_db(model(x), converted(x)) for x in unseen) / len(unseen)

    assert quality(True) > quality(False) + 3.0


def test_conversion_of_a_copy_gives_the_same_and_leaves_the_original():
    _, prepared, x = prepared_network()
    copied = copy.deepcopy(prepared)
    first = convert_pt2e(copied)
    second = convert_pt2e(prepared)
    assert torch.equal(first(x), second(x))


def test_tuning_is_reported():
    model, samples = spread_network()
    _, quantizer = quantize(model, *[(x,) for x in samples[:9]])
    report = str(quantizer.report)
    assert "tuned on 9 samples, 4 channel groups equalized, " in report and " of 6 layers rounded against" in report


def test_a_model_with_state_keeps_plain_ranges():
    class Stateful(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 1)
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x):
            self.seen.add_(1.0)
            return self.conv(x) + self.seen

    _, quantizer = quantize(Stateful(), (torch.randn(1, 3, 4, 4),))
    assert "buffer in place" in quantizer.report.tuner.summary


def test_two_inputs_one_of_integers():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 1)
            self.fc = nn.Linear(4, 3)

        def forward(self, x, index):
            return self.fc(F.relu(self.conv(x)).mean([2, 3]))[:, index]

    model, inputs = Two(), (torch.randn(1, 3, 4, 4), torch.tensor([2, 0]))
    converted, quantizer = quantize(model, inputs)
    assert sqnr_db(model(*inputs), converted(*inputs)) > 25
    assert "tuned on 1 samples" in quantizer.report.tuner.summary


def test_vanishing_channel_keeps_its_bias():
    """A batch norm can leave a channel with weights of 1e-9: its step must still be able to hold the bias."""
    model = nn.Conv2d(3, 4, 1)
    with torch.no_grad():
        model.weight[1] = 1e-9
        model.bias[1] = 5.0
    x = torch.randn(1, 3, 8, 8)
    converted, _ = quantize(model, (x,))
    torch.testing.assert_close(converted(x)[:, 1], model(x)[:, 1], rtol=0.01, atol=0.02)


def test_brighter_inputs_than_those_of_calibration_are_not_cut_off():
    """A channel that calibration saw up to 1, below a clamp at 6, gets a 3: the float network gives 1 + 3."""
    first, second = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 1, 1)
    with torch.no_grad():
        first.weight.copy_(torch.eye(2)[:, :, None, None])
        second.weight.fill_(1.0)
        first.bias.zero_(), second.bias.zero_()
    seen = torch.stack([torch.linspace(0, 6, 16).view(4, 4), torch.linspace(0, 1, 16).view(4, 4)])[None]
    converted, _ = quantize(nn.Sequential(first, nn.ReLU6(), second), (seen,), (seen / 2,), (seen / 3,))
    given = converted(torch.tensor([1.0, 3.0]).view(1, 2, 1, 1).expand(1, 2, 4, 4))
    assert (given - 4.0).abs().max() < 0.06  # a step of the sum's 0 to 7 is 0.027
