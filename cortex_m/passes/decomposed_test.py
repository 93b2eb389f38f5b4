"""Operators that become several int8 ones: recurrent cells, GLU, log softmax, interpolation, uneven pools; against PyTorch."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cortex_m.passes.recipe import quantize_and_lower
from cortex_m.quantizer.recipe import quantize as quantize_with_report


def sqnr_db(wanted, given):
    return float(10 * torch.log10(wanted.double().square().sum() / (wanted - given).double().square().sum()))


class Behind(nn.Module):
    """`function` of a convolution's output."""

    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.function = nn.Conv2d(3, 4, 3, padding=1), function

    def forward(self, x):
        return self.function(self.layer(x))


IMAGES = {
    "adaptive average, 7 to 3": lambda y: F.adaptive_avg_pool2d(y, 3),
    "adaptive average, 7x7 to 7x5": lambda y: F.adaptive_avg_pool2d(y, (7, 5)),
    "bilinear, twice": lambda y: F.interpolate(y, scale_factor=2, mode="bilinear"),
    "bilinear, corners aligned": lambda y: F.interpolate(y, size=(9, 12), mode="bilinear", align_corners=True),
    "bicubic": lambda y: F.interpolate(y, size=(10, 11), mode="bicubic"),
    "linear": lambda y: F.interpolate(y.flatten(2), scale_factor=3, mode="linear"),
    "nearest-exact": lambda y: F.interpolate(y, size=(10, 5), mode="nearest-exact"),
    "glu over channels": lambda y: F.glu(y, 1),
    "glu over columns": lambda y: F.glu(y[..., :6], -1),
    "log softmax": lambda y: F.log_softmax(y, 1),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images(name):
    model, calls = Behind(IMAGES[name]), [(torch.randn(1, 3, 7, 7),) for _ in range(8)]
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    for (x,) in calls[:2]:
        with torch.no_grad():
            assert sqnr_db(model(x), lowered.run(x)[0]) > 30


@pytest.mark.parametrize("classes", [10, 128])
def test_log_softmax_over_rows(classes):
    torch.manual_seed(0)
    model, calls = (
        nn.Sequential(nn.Linear(16, classes), nn.LogSoftmax(-1)),
        [(2 * torch.randn(4, 16),) for _ in range(8)],
    )
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    with torch.no_grad():
        assert sqnr_db(model(*calls[1]), lowered.run(*calls[1])[0]) > 35


def test_a_long_log_softmax_says_what_to_do():
    _, quantizer = quantize_with_report(nn.Sequential(nn.Linear(16, 129), nn.LogSoftmax(-1)), (torch.randn(4, 16),))
    (node,) = quantizer.report.float_nodes
    assert "over more than 128 values" in node.reason and "use softmax" in node.reason


class Cell(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x, *state):
        return self.cell(x, state if len(state) > 1 else state[0])


CELLS = {
    "gru": (lambda: nn.GRUCell(8, 6), 1),
    "gru without bias": (lambda: nn.GRUCell(8, 6, bias=False), 1),
    "lstm": (lambda: nn.LSTMCell(8, 6), 2),
    "rnn tanh": (lambda: nn.RNNCell(8, 6), 1),
    "rnn relu": (lambda: nn.RNNCell(8, 6, nonlinearity="relu"), 1),
}


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_cells(name):
    torch.manual_seed(0)
    make, states = CELLS[name]
    model = Cell(make())
    calls = [(torch.randn(2, 8), *(2 * torch.rand(2, 6) - 1 for _ in range(states))) for _ in range(16)]
    lowered = quantize_and_lower(model, *calls[0], calibration=calls, strict=True)
    for call in calls[:3]:
        with torch.no_grad():
            wanted = model(*call)
        given = lowered.run(*call)
        for real, value in zip(wanted if isinstance(wanted, tuple) else [wanted], given, strict=True):
            assert sqnr_db(real, value) > 30
