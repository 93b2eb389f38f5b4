"""Regions of a graph and weights that are computed: int8 as if the model were written without."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.map import map as map_over
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cortex_m.errors import ModelError
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import quantize, sqnr_db, targets


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.linear = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(4, 3)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.2, 3)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        return self.linear(self.norm(self.conv(x)).relu().mean((2, 3)))


class NoGrad(Net):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


class Inference(Net):
    def forward(self, x):
        with torch.inference_mode():
            return super().forward(x)


class Nested(Net):
    def forward(self, x):
        with torch.no_grad():
            y = self.conv(x)
            with torch.set_grad_enabled(True), torch.autocast("cpu", enabled=False):
                y = self.norm(y).relu()
            y = y.mean((2, 3))
        return self.linear(y)


class AutocastOff(Net):
    def forward(self, x):
        y = self.conv(x)
        with torch.autocast("cpu", enabled=False):
            y, z = self.norm(y).relu(), torch.tensor(2.0) * y
            y = y + z
        return self.linear(y.mean((2, 3)))


INPUTS = torch.randn(8, 1, 3, 8, 8, generator=torch.Generator().manual_seed(1)).unbind()


@pytest.mark.parametrize("kind", [NoGrad, Inference, Nested, AutocastOff])
def test_regions_are_inlined(kind):
    torch.manual_seed(0)
    module = kind().eval()
    with torch.enable_grad():
        converted, quantizer = quantize(module, *((x,) for x in INPUTS))
    assert not quantizer.report.float_nodes, quantizer.report
    assert [layer.pattern for layer in quantizer.report.quantized].count("linear") == 1
    assert "batch_norm" not in targets(converted)
    with torch.no_grad():
        expected, given = (torch.cat([model(x) for x in INPUTS]) for model in (module, converted))
    assert sqnr_db(expected, given) > 30


class Bfloat16(Net):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.conv(x)


class Condition(Net):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y + 1.0, lambda y: y - 1.0, (self.conv(x),))


class While(Net):
    def forward(self, x):
        return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + 1.0), (torch.tensor(0), self.conv(x)))[1]


class Map(Net):
    def forward(self, x):
        return map_over(lambda y: y.relu() + 1, self.conv(x))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Bfloat16, "torch.autocast computes in bfloat16"),
        (Condition, "torch.cond is control flow"),
        (While, "torch.while_loop is control flow"),
        (Map, "torch.map is control flow"),
    ],
)
def test_the_rest_is_refused_by_name(kind, sentence):
    graph = torch.export.export(kind().eval(), (INPUTS[0],)).module()
    with pytest.raises(ModelError, match=rf"regions_test.py:\d+: {sentence}") as caught:
        prepare_pt2e(graph, CortexMQuantizer())
    assert "\n" not in str(caught.value)


class Scaled(nn.Module):
    """Weights standardized and scaled in forward, as in networks without norms."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.gain = nn.Conv2d(3, 4, 3), nn.Parameter(torch.rand(4, 1, 1, 1) + 0.5)

    def forward(self, x):
        w = self.conv.weight
        w = (w - w.mean((1, 2, 3), keepdim=True)) / w.std((1, 2, 3), keepdim=True)
        return F.conv2d(x, w * self.gain, self.conv.bias)


class Twice(nn.Module):
    def forward(self, weight):
        return weight * 2


def parametrized() -> nn.Module:
    layer = nn.Conv2d(3, 4, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Twice())
    return layer


LINE = torch.randn(6, 2, 8, 9, generator=torch.Generator().manual_seed(2)).unbind()
PICTURES = torch.randn(6, 2, 3, 7, 7, generator=torch.Generator().manual_seed(2)).unbind()
WEIGHTS = {
    "weight norm": (lambda: nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 8, 3)), LINE),
    "weight norm, hooks": (lambda: nn.utils.weight_norm(nn.Conv1d(8, 8, 3)), LINE),
    "weight norm, batch norm": (
        lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 8, 3)), nn.BatchNorm1d(8)), LINE,
    ),
    "weight norm, transposed": (
        lambda: nn.utils.parametrizations.weight_norm(nn.ConvTranspose1d(8, 4, 4, 2, 1)), LINE,
    ),
    "spectral norm": (lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 4, 3)), PICTURES),
    "spectral norm, hooks": (lambda: nn.utils.spectral_norm(nn.Conv2d(3, 4, 3)), PICTURES),
    "parametrized": (parametrized, PICTURES),
    "standardized": (Scaled, PICTURES),
}  # fmt: skip


@pytest.mark.parametrize("name", WEIGHTS)
def test_computed_weights_become_int8(name):
    make, samples = WEIGHTS[name]
    torch.manual_seed(0)
    module = make().eval()
    converted, quantizer = quantize(module, *((x,) for x in samples))
    assert not quantizer.report.float_nodes, quantizer.report
    kernel = next(node for node in converted.graph.nodes if "conv" in str(node.target)).args[1]
    assert "dequantize_per_channel" in str(kernel.target)
    with torch.no_grad():
        assert sqnr_db(module(samples[0]), converted(samples[0])) > 35


class Counts(nn.Module):
    """What forward changes is no constant, nor is what is drawn at random; a table that only grows stays computed."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("table", torch.ones(1, 4))

    def forward(self, x):
        self.calls.add_(1)
        return self.linear(x) * (self.calls * 2) + (self.table * 3).expand(512, 4)


def test_state_is_no_constant():
    graph = torch.export.export(Counts().eval(), (torch.randn(512, 4),)).module()
    quantizer = CortexMQuantizer()
    names = targets(quantizer.transform_for_annotation(graph))
    assert names.count("mul") == 2 and "expand" in names, (
        names
    )  # the products with the counter; not that with the table
