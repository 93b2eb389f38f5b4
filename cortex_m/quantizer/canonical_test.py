"""Windows and matrix products come in one form each, and compute what they computed."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.quantizer.prepare import prepare_graph


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.register_parameter("weight", nn.Parameter(values(4, 6, seed=7)))
        self.register_parameter("bias", nn.Parameter(values(4, seed=8)))

    def forward(self, *args):
        return self.function(self, *args)


class Stack(nn.Module):
    """One dimension throughout, with a residual."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(3, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding=2, dilation=2)
        self.norm, self.up = nn.BatchNorm1d(4), nn.ConvTranspose1d(4, 2, 4, stride=2, output_padding=1)
        nn.init.uniform_(self.norm.running_mean)

    def forward(self, x):
        y = F.relu(self.first(x))
        y = torch.sigmoid(self.norm(self.second(y)) + y)
        return self.up(F.max_pool1d(y, 2, padding=1, ceil_mode=True))


def values(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# name: (module, inputs, targets of the calls afterwards, without namespace)
WINDOWS = {
    "stack of one dimension": (
        Stack(), (values(2, 3, 9),),
        "unsqueeze conv2d relu conv2d add sigmoid max_pool2d conv_transpose2d squeeze",
    ),
    "conv1d, same": (nn.Conv1d(3, 4, 4, padding="same"), (values(2, 3, 9),), "unsqueeze constant_pad_nd conv2d squeeze"),
    "conv1d, valid, no batch": (
        nn.Conv1d(3, 4, 3, padding="valid", stride=2), (values(3, 9),), "unsqueeze unsqueeze conv2d squeeze squeeze",
    ),
    "conv2d, no batch": (nn.Conv2d(3, 4, 3, dilation=(1, 2)), (values(3, 6, 7),), "unsqueeze conv2d squeeze"),
    "conv_transpose2d, no batch": (
        nn.ConvTranspose2d(3, 4, 3, stride=2), (values(3, 4, 5),), "unsqueeze conv_transpose2d squeeze",
    ),
    "avg_pool1d": (nn.AvgPool1d(3, 2, 1, True, False), (values(2, 3, 8),), "unsqueeze avg_pool2d squeeze"),
    "adaptive_avg_pool1d": (nn.AdaptiveAvgPool1d(4), (values(2, 3, 8),), "unsqueeze adaptive_avg_pool2d squeeze"),
    "adaptive_max_pool1d": (nn.AdaptiveMaxPool1d(4), (values(2, 3, 8),), "unsqueeze max_pool2d squeeze"),
    "adaptive_max_pool2d": (nn.AdaptiveMaxPool2d((2, 3)), (values(2, 3, 8, 6),), "max_pool2d"),
    "max_pool2d, no batch": (nn.MaxPool2d(2, 1, 1, 2), (values(3, 6, 6),), "unsqueeze max_pool2d squeeze"),
    "indices that nobody reads": (
        Function(lambda m, x: F.max_pool2d(x, 2, return_indices=True)[0]), (values(1, 3, 6, 6),), "max_pool2d",
    ),
    "slopes between convolutions": (
        nn.Sequential(nn.Conv1d(4, 4, 3), nn.PReLU(4), nn.Conv1d(4, 4, 3)), (values(1, 4, 9),),
        "unsqueeze conv2d prelu conv2d squeeze",
    ),
    "divisor": (nn.AvgPool2d(2, divisor_override=3), (values(1, 3, 6, 6),), "conv2d"),
    "divisor, padding": (nn.AvgPool2d((3, 2), (2, 1), 1, divisor_override=5), (values(1, 3, 6, 6),), "conv2d"),
    "divisor, ceil_mode": (
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, divisor_override=7), (values(1, 3, 6, 9),), "constant_pad_nd conv2d",
    ),
    "divisor, ceil_mode that drops a window": (
        nn.AvgPool2d(2, 3, 1, ceil_mode=True, divisor_override=7), (values(1, 3, 4, 4),), "conv2d",
    ),
}  # fmt: skip
MATRICES = {
    "mm": (Function(lambda m, x, y: torch.mm(x, y)), (values(3, 6), values(6, 5)), "matmul"),
    "bmm": (Function(lambda m, x, y: torch.bmm(x, y)), (values(2, 3, 6), values(2, 6, 5)), "matmul"),
    "vector on the right": (
        Function(lambda m, x, y: x @ y), (values(2, 3, 6), values(6)), "unsqueeze matmul squeeze",
    ),
    "vector on the left": (Function(lambda m, x, y: x @ y), (values(6), values(2, 6, 5)), "unsqueeze matmul squeeze"),
    "dot": (
        Function(lambda m, x, y: torch.dot(x, y)), (values(6), values(6)),
        "unsqueeze unsqueeze matmul squeeze squeeze",
    ),
    "mv of a constant": (Function(lambda m, x: torch.mv(m.weight, x)), (values(6),), "unsqueeze matmul squeeze"),
    "constant on the right": (Function(lambda m, x: x @ m.weight.t()), (values(2, 3, 6),), "linear"),
    "constant and bias": (Function(lambda m, x: torch.addmm(m.bias, x, m.weight.t())), (values(3, 6),), "linear"),
    "addmm": (
        Function(lambda m, c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2)), (values(5), values(3, 6), values(6, 5)),
        "matmul mul mul add",
    ),
    "addmm, constants, factors": (
        Function(lambda m, x: torch.addmm(m.bias, x, m.weight.t(), beta=0.5, alpha=2)), (values(3, 6),), "linear",
    ),
    "baddbmm, beta 0": (
        Function(lambda m, c, x, y: torch.baddbmm(c, x, y, beta=0)),
        (values(2, 3, 5), values(2, 3, 6), values(2, 6, 5)), "matmul",
    ),
    "computed weight": (
        Function(lambda m, x, w: F.linear(x, w, m.bias)), (values(2, 3, 6), values(4, 6)), "transpose matmul add",
    ),
    "transposed constant weight": (Function(lambda m, x: F.linear(x, m.weight.t())), (values(2, 4),), "linear"),
    "attention": (
        Function(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v)),
        (values(1, 2, 3, 4), values(1, 2, 5, 4), values(1, 2, 5, 6)), "transpose matmul mul softmax matmul",
    ),
    "attention, scale": (
        Function(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3)),
        (values(2, 3, 4), values(2, 5, 4), values(2, 5, 6)), "transpose matmul mul softmax matmul",
    ),
}  # fmt: skip
CASES = WINDOWS | MATRICES


@pytest.mark.parametrize("name", CASES)
def test_one_form(name):
    module, inputs, targets = CASES[name]
    exported = torch.export.export(module.eval(), inputs)
    model, _ = prepare_graph(exported.module())
    calls = [node for node in model.graph.nodes if node.op == "call_function"]
    assert [str(node.target).split(".")[1] for node in calls] == targets.split()
    torch.testing.assert_close(model(*inputs), module(*inputs), rtol=1e-5, atol=1e-6)
    for node in calls:  # the shapes that checks read are the true ones
        assert node.meta["val"] is not None and "stack_trace" in node.meta


def test_indices_that_are_read_stay():
    module = Function(lambda m, x: F.max_pool2d(x, 2, return_indices=True))
    model, _ = prepare_graph(torch.export.export(module.eval(), (values(1, 3, 6, 6),)).module())
    assert any(node.target is torch.ops.aten.max_pool2d_with_indices.default for node in model.graph.nodes)


def test_weights_still_train():
    module = nn.Sequential(nn.Conv1d(3, 4, 3), nn.ReLU())
    model, _ = prepare_graph(torch.export.export(module, (values(2, 3, 9),)).module(), training=True)
    model(values(2, 3, 9)).sum().backward()
    assert any(p.grad is not None and p.dim() == 4 and bool(p.grad.abs().sum() > 0) for p in model.parameters())


def test_inputs_keep_their_order():
    module = nn.Module()
    module.forward = lambda x, y: torch.mm(x, y)
    model, _ = prepare_graph(torch.export.export(module, (values(3, 6), values(6, 5))).module())
    torch.testing.assert_close(model(values(3, 6), values(6, 5)), values(3, 6) @ values(6, 5))
