"""Operators with one scale for several tensors, comparisons of rounded values, and ranges that int8 has few steps for."""

import pytest
import torch
from torch import nn

from cortex_m.passes.recipe import quantize, quantize_and_lower
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import quantize as quantize_with_report


def sqnr_db(wanted, given):
    return float(10 * torch.log10(wanted.double().square().sum() / (wanted - given).double().square().sum()))


class Joined(nn.Module):
    """d(cat([x, c(x) * k])), or the same without the cat: d1(x) + d2(c(x) * k)."""

    def __init__(self, k, joined):
        super().__init__()
        torch.manual_seed(0)
        self.c, self.d = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(6, 4, 3)
        self.k, self.joined = k, joined
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3, bias=False)
        self.first.weight.data, self.first.bias.data = self.d.weight.data[:, :3].clone(), self.d.bias.data.clone()
        self.second.weight.data = self.d.weight.data[:, 3:].clone()

    def forward(self, x):
        y = self.c(x) * self.k
        return self.d(torch.cat([x, y], 1)) if self.joined else self.first(x) + self.second(y)


def images(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.rand(1, 3, 12, 12, generator=generator),) for _ in range(count)]


@pytest.mark.parametrize("k", [1, 10, 50])
def test_what_others_read_keeps_its_scale_beside_a_cat(k):
    reached = []
    for joined in (True, False):
        model = Joined(k, joined)
        lowered = quantize_and_lower(model, *images(1)[0], calibration=images(8), strict=True)
        pairs = [(model(x).detach(), lowered.run(x)[0]) for (x,) in images(3, seed=1)]
        reached.append(sqnr_db(*map(torch.cat, zip(*pairs))))
    assert reached[0] > 35 and reached[0] > reached[1] - 2.5, reached


class Branches(nn.Module):
    """`join` of a layer's output, which another layer reads, too, and of another's, times k."""

    def __init__(self, k, join):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.c = (nn.Linear(16, 16) for _ in range(3))
        self.k, self.join = k, join

    def forward(self, x):
        a = self.a(x)
        return self.join(a, self.b(x) * self.k), self.c(a)


EVEN = torch.arange(16) % 2 == 0
JOINS = {
    "cat": lambda a, b: torch.cat([a, b], -1),
    "stack": lambda a, b: torch.stack([a, b]),
    "where": lambda a, b: torch.where(EVEN, a, b),
    "maximum": torch.maximum,
    "select_scatter": lambda a, b: torch.select_scatter(a, b[0], 0, 1),
    "cat behind a reshape": lambda a, b: torch.cat([a.reshape(2, 8, 4), b.reshape(2, 8, 4)], 1),
}


@pytest.mark.parametrize("join", JOINS)
def test_every_join_leaves_the_other_readers_their_steps(join):
    calls = [(torch.randn(4, 16),) for _ in range(8)]
    model = Branches(50.0, JOINS[join])
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    joined, other = zip(*((lowered.run(x), model(x)) for (x,) in calls[:3]))
    second = [torch.cat([outputs[1] for outputs in each]).detach() for each in (other, joined)]
    assert sqnr_db(*second) > 33  # with the scale of the join it is about 12
    first = [torch.cat([outputs[0] for outputs in each]).detach() for each in (other, joined)]
    assert sqnr_db(*first) > 33


@pytest.mark.parametrize("join", ["cat", "maximum"])
def test_ranges_that_are_alike_become_one(join):
    calls = [(torch.randn(4, 16),) for _ in range(8)]
    model = Branches(1.2, JOINS[join])
    model.b.weight.data, model.b.bias.data = model.a.weight.data.flip(0), model.a.bias.data.flip(0)
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    assert "quantized_add" not in lowered.ops  # no requantization


class Compared(nn.Module):
    def __init__(self, layers):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(64, 64), nn.Linear(64, 64)]) if layers else None

    def forward(self, x, y):
        if self.layers is not None:
            x, y = self.layers[0](x), self.layers[1](y)
        return torch.minimum(x, y) == x


def pairs():
    return [(torch.rand(4, 64), torch.rand(4, 64)) for _ in range(6)]


def test_values_that_no_layer_has_rounded_are_compared_in_float():
    model, calls = Compared(layers=False), pairs()
    lowered = quantize_and_lower(model, *calls[0], calibration=calls)
    for call in pairs():
        assert torch.equal(lowered.run(*call)[0], model(*call))
    _, quantizer = quantize_with_report(model, *calls)
    reasons = {node.name: node.reason for node in quantizer.report.float_nodes}
    assert set(reasons) == {"minimum", "eq"}
    assert "compares it exactly" in reasons["minimum"]


def test_values_of_layers_are_compared_in_one_form():
    model, calls = Compared(layers=True), pairs()
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    wanted, given = zip(*((model(*call), lowered.run(*call)[0]) for call in calls))
    assert (torch.cat(wanted) == torch.cat(given)).float().mean() > 0.98


class Offset(nn.Module):
    def forward(self, x):
        return x - 1000


def test_an_input_with_one_code_is_a_warning():
    calls = [(1000 + torch.rand(1, 8),) for _ in range(4)]
    _, quantizer = quantize_with_report(Offset(), *calls)
    low, high = min(float(x.min()) for (x,) in calls), max(float(x.max()) for (x,) in calls)
    (warning,) = quantizer.report.warnings
    assert f"input 'x' ranges from {low:.6g} to {high:.6g}" in warning and "1 of the 256 integers stands" in warning
    assert "joins_test.py:" in warning and warning in str(quantizer.report)


def test_a_range_around_zero_is_no_warning():
    _, quantizer = quantize_with_report(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), (torch.randn(4, 8),))
    assert quantizer.report.warnings == []


@pytest.mark.parametrize(("low", "codes"), [(15.5, 9), (13.0, None)])  # of a range up to 16
def test_the_number_of_codes(low, codes):
    ramp = torch.linspace(low, 16.0, 64)[None]
    _, quantizer = quantize_with_report(nn.Linear(64, 2), (ramp,))
    warnings = [warning for warning in quantizer.report.warnings if "input" in warning]
    assert [f"{codes} of the 256" in warning for warning in warnings] == ([True] if codes else [])


def test_a_sample_that_is_no_number_is_named():
    calls = [(torch.rand(2, 8),) for _ in range(4)]
    calls[2][0][1, 3] = float("nan")
    with pytest.raises(ValueError, match="'input_1' is not finite in sample 3 of calibration"):
        quantize(nn.Sequential(nn.Linear(8, 8)), *calls[0], calibration=calls)


def test_a_weight_that_is_no_number_is_named():
    layer = nn.Linear(8, 8)
    layer.weight.data[3, 3] = float("inf")
    with pytest.raises(ValueError, match="'weight' has values that are infinite"):
        quantize(layer, torch.rand(2, 8))


def test_training_keeps_one_scale_for_a_join():
    from torchao.quantization.pt2e.quantize_pt2e import prepare_qat_pt2e

    model = Branches(50.0, JOINS["cat"]).train()
    prepared = prepare_qat_pt2e(
        torch.export.export(model, (torch.randn(4, 16),)).module(), CortexMQuantizer(is_qat=True)
    )
    (cat,) = (node for node in prepared.graph.nodes if node.target is torch.ops.aten.cat.default)
    assert len({prepared.get_submodule(source.target) for source in cat.args[0]}) == 1
