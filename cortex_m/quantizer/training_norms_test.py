"""Training with rounded values: every layer that takes a norm in is, after conversion, the layer that was trained."""

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import nodes, sqnr_db, targets


class Shared(nn.Module):
    """One convolution called twice, with a norm of its own each time."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.BatchNorm2d(3)

    def forward(self, x):
        return self.second(self.conv(self.first(self.conv(x)).relu()))


BatchNorm1d, BatchNorm2d = nn.BatchNorm1d, nn.BatchNorm2d
CASES = {
    "conv2d, groups": (lambda: [nn.Conv2d(4, 8, 3, groups=2, bias=False), BatchNorm2d(8, eps=1e-2), nn.ReLU()], (8, 4, 7, 7)),
    "conv1d": (lambda: [nn.Conv1d(3, 4, 3), BatchNorm1d(4), nn.ReLU()], (8, 3, 9)),
    "linear": (lambda: [nn.Linear(8, 4), BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)], (16, 8)),
    "not affine": (lambda: [nn.Conv2d(3, 4, 3), BatchNorm2d(4, affine=False), nn.ReLU6()], (8, 3, 7, 7)),
    "transposed": (lambda: [nn.ConvTranspose2d(3, 4, 3, 2), BatchNorm2d(4), nn.ReLU()], (8, 3, 5, 5)),
    "transposed, no norm": (lambda: [nn.ConvTranspose2d(3, 4, 3, 2), nn.ReLU()], (8, 3, 5, 5)),
    "transposed, groups": (
        lambda: [nn.ConvTranspose2d(4, 4, 3, 2, groups=2, bias=False), BatchNorm2d(4), nn.ReLU()], (8, 4, 5, 5),
    ),
    "transposed 1d": (lambda: [nn.ConvTranspose1d(4, 3, 4, 2), BatchNorm1d(3), nn.ReLU()], (8, 4, 6)),
    "shared": (lambda: [Shared()], (8, 3, 7, 7)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_was_trained_is_what_is_converted(name):
    make, shape = CASES[name]
    torch.manual_seed(0)
    module, batches = nn.Sequential(*make()).train(), torch.randn(12, *shape).unbind()
    quantizer = CortexMQuantizer(is_qat=True)
    captured = torch.export.export(module, (batches[0],)).module(check_guards=False)
    prepared = prepare_qat_pt2e(captured, quantizer)
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.01)
    for batch in batches:
        loss = (prepared(batch) - 0.5).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in prepared.parameters())
    move_exported_model_to_eval(prepared)
    trained = prepared(batches[0]).detach()
    converted = convert_pt2e(prepared)
    assert sqnr_db(trained, converted(batches[0])) > 30
    assert not quantizer.report.float_nodes, quantizer.report
    left = set(targets(converted))
    assert not left & {"batch_norm", "add_", "div", "mul", "rsqrt"}, left
    heads = (torch.ops.aten.conv2d.default, torch.ops.aten.conv_transpose2d.input, torch.ops.aten.linear.default)
    layers = [layer for head in heads for layer in nodes(converted, head)]
    assert all("dequantize_per_channel" in str(layer.args[1].target) for layer in layers) and layers
    assert not nodes(converted, torch.ops.aten.batch_norm.default)


def test_a_linear_layer_over_the_last_of_three_keeps_its_norm():
    """The norm is over dimension 1, the layer over dimension 2: it stays what it was, in float, and the report says so."""
    module = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(4)).train()
    quantizer = CortexMQuantizer(is_qat=True)
    x = torch.randn(8, 4, 6)
    prepared = prepare_qat_pt2e(torch.export.export(module, (x,)).module(check_guards=False), quantizer)
    prepared(x).sum().backward()
    assert [node.name for node in quantizer.report.float_nodes] == ["batch_norm"]
