"""Every refusal names its reason and the line of the model that made the node."""

import inspect
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cortex_m.errors import ModelError
from cortex_m.quantizer.patterns import PATTERNS, pattern_table
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import quantize

CHANNELS = 4


class Model(nn.Module):
    """`before` on the input, a convolution, then `function` on its output."""

    def __init__(self, function, before=None):
        super().__init__()
        self.before = before
        self.conv = nn.Conv2d(CHANNELS, CHANNELS, 1)
        self.function = function

    def forward(self, x):
        return self.function(self.conv(x if self.before is None else self.before(x)))


# name: (function, name of the refused node, words of the reason)
CASES = {
    "no pattern": (lambda y: torch.sinc(y), "sinc", "no int8 pattern"),
    "infinite alpha": (lambda y: torch.add(y, y.flip(0), alpha=float("inf")), "add", "alpha is inf, not a finite"),
    "function of two tensors": (lambda y: torch.atan2(y, y.flip(0)), "atan2", "more than one tensor"),
    "slopes from data": (lambda y: F.prelu(y, y[0, :, 0, 0]), "prelu", "the slopes are not a constant"),
    "table of integers": (lambda y: y > 0.5, "gt", "bool, not float32"),
    "float64": (lambda y: y.double() + y.double(), "add", "float64, not float32"),
    "infinite pad": (lambda y: F.pad(y, (1, 1), value=float("-inf")), "pad", "finite"),
    "clamp bounds": (lambda y: torch.clamp(y, 2.0, 1.0), "clamp", "lower bound 2.0 is above"),
    "activation alone": (lambda y: torch.i0(F.relu(torch.sinc(y))), "relu", "float operators only"),
    "training dropout": (lambda y: F.dropout(y, 0.5, training=True), "dropout", "training mode"),
    "adaptive max pool": (lambda y: F.adaptive_max_pool2d(y, 4), "adaptive_max_pool2d", "do not divide"),
    "indices": (
        lambda y: F.max_pool2d(y, 2, return_indices=True)[1],
        "max_pool2d_with_indices",
        "indices of its maxima are read",
    ),
    "maximum of padding": (
        lambda y: F.max_pool2d(y[..., :2, :2], 2, 1, 1, 3),
        "max_pool2d",
        "in the padding altogether",
    ),
    "dtype of a mean": (lambda y: y.mean(1, dtype=torch.float64), "mean", "float64"),
    "mean of distant dims": (lambda y: y[None].mean((0, 2)), "mean", "must be neighbours"),
    "three dimensions": (lambda y: F.max_pool3d(y[None], 2), "max_pool3d", "windows over three dimensions"),
    "long softmax": (
        lambda y: torch.softmax(y.repeat(1, 60, 1, 1).flatten(), 0),
        "softmax",
        "over 8640 values; at most 8191",
    ),
    "log softmax": (
        lambda y: torch.log_softmax(y.flatten(1).repeat(1, 20), 1),
        "log_softmax",
        "take the logarithm off the device",
    ),
    "einsum": (lambda y: torch.einsum("nchw,ncwk->nchk", y, y), "einsum", "write it as matmul"),
    "batch dims by turns": (
        lambda y: y[:, :2].reshape(1, 2, 1, 4, 9) @ y[:, :3].reshape(3, 1, 2, 9, 2),
        "matmul",
        "in 3 different ways",
    ),
    "weight from data": (lambda y: F.conv2d(y, y), "conv2d", "the weight is not a constant"),
    "weight from data, one dimension": (lambda y: F.conv1d(y[0], y[0]), "conv1d", "the weight is not a constant"),
    "transposed weight from data": (
        lambda y: F.conv_transpose2d(y, y.permute(1, 0, 2, 3)),
        "conv_transpose2d",
        "the weight is not a constant",
    ),
    "bias from data": (
        lambda y: F.conv2d(y, torch.ones(4, 4, 1, 1), y.flatten()[:4]),
        "conv2d",
        "bias is not a constant|weight is not",
    ),
    "batch norm alone": (
        lambda y: F.batch_norm(torch.sinc(y[..., 0, 0]), torch.zeros(CHANNELS), torch.ones(CHANNELS)),
        "batch_norm",
        "folded only into",
    ),
    "move between float": (lambda y: torch.i0(torch.sinc(y).flatten(1)), "flatten", "float operators only"),
}


@pytest.mark.parametrize("case", CASES)
def test_refusal_names_reason_and_line(case):
    function, name, reason = CASES[case]
    torch.manual_seed(0)
    captured = torch.export.export(Model(function).eval(), (torch.randn(1, CHANNELS, 6, 6),)).module()
    quantizer = CortexMQuantizer()
    prepare_pt2e(captured, quantizer)
    (node,) = [x for x in quantizer.report.float_nodes if x.name.startswith(name)][:1]
    assert re.search(reason, node.reason), node.reason
    # Export records the line of the innermost `forward`.
    source, first = inspect.getsourcelines(Model.forward)
    assert node.location == f"{__file__}:{first + len(source) - 1}"
    assert f"{node.location}: {node.name}" in str(quantizer.report)


def test_dynamic_shape_is_refused():
    model = Model(lambda y: y)
    batch = torch.export.Dim("batch", min=2, max=8)
    captured = torch.export.export(model.eval(), (torch.randn(2, CHANNELS, 6, 6),), dynamic_shapes=({0: batch},))
    quantizer = CortexMQuantizer()
    prepare_pt2e(captured.module(), quantizer)
    (node,) = [x for x in quantizer.report.float_nodes if x.name == "conv2d"]
    assert "dynamic shape" in node.reason


def test_report_counts_layers():
    model = Model(lambda y: F.dropout(F.relu(y), training=False))
    _, quantizer = quantize(model, (torch.randn(1, CHANNELS, 6, 6),))
    text = str(quantizer.report)
    assert text.rsplit("\n", 1)[1].startswith("Accuracy: tuned on 1 samples")
    assert "Quantized to int8: 1 layers" in text and "1 x conv2d" in text and "Left in float: 0" in text
    assert [node.name for node in quantizer.report.removed] == ["dropout"]
    (layer,) = quantizer.report.quantized
    assert layer.nodes == ("conv2d", "relu") and layer.location.startswith(__file__)


def test_table_rows_are_complete():
    rows = list(pattern_table())
    assert [row[0] for row in rows] == [pattern.name for pattern in PATTERNS]
    heads = [head for pattern in PATTERNS for head in pattern.heads]
    assert len(heads) == len(set(heads)), "an operator starts two patterns"
    assert all(all(row) for row in rows)


@pytest.mark.parametrize(("value", "ends"), [(-1.0, "nan to nan"), (0.0, "-inf to -inf")])
def test_ranges_that_are_no_numbers_name_the_operator(value, ends):
    """The logarithm of what is below zero, and of zero."""
    model = Model(lambda y: y, before=torch.log)
    with pytest.raises(
        ModelError, match=rf"refusals_test.py:\d+: 'log' is not finite in sample 1 of .* range is {ends}"
    ):
        quantize(model, (torch.full((1, CHANNELS, 6, 6), value),))
