"""Graph preparation: what leaves the graph, what is rewritten, and that values stay the same to the bit."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.quantizer.prepare import prepare_graph
from cortex_m.quantizer.recipe import targets

aten = torch.ops.aten


class Model(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.function = function

    def forward(self, x):
        return self.function(self.conv(x))


def prepared(function, shape=(1, 4, 6, 5)):
    """(prepared graph, removals) of a convolution and `function`, with the values checked."""
    torch.manual_seed(1)
    model, x = Model(function).eval(), torch.randn(shape)
    graph, removed = prepare_graph(torch.export.export(model, (x,)).module())
    expected, actual = model(x), graph(x)
    assert torch.equal(expected, actual)
    return graph, removed


IDENTITIES = {
    "dropout": lambda y: F.dropout(y, training=False),
    "dropout in place": lambda y: F.dropout(y, training=False, inplace=True),
    "dropout2d": lambda y: F.dropout2d(y, training=False),
    "alpha dropout": lambda y: F.alpha_dropout(y, training=False),
    "clone": lambda y: y.clone(),
    "contiguous": lambda y: y.contiguous(memory_format=torch.channels_last),
    "detach": lambda y: y.detach(),
    "to float32": lambda y: y.to(torch.float32),
    "reshape to itself": lambda y: y.reshape(y.shape),
    "flatten of one dim": lambda y: torch.flatten(y, 1, 1),
    "expand to itself": lambda y: y.expand(1, 4, 6, 5),
    "zero pad": lambda y: F.pad(y, (0, 0, 0, 0)),
    "identity permutation": lambda y: y.permute(0, 1, -2, -1),
    "pool of one": lambda y: F.avg_pool2d(y, 1),
    "adaptive pool to its size": lambda y: F.adaptive_avg_pool2d(y, (6, 5)),
    "identity module": nn.Identity(),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_operators_that_change_nothing_go(name):
    graph, removed = prepared(IDENTITIES[name])
    assert targets(graph) == ["conv2d"]
    assert all(node.location.startswith(__file__) for node in removed)
    assert len(removed) == (0 if name == "identity module" else 1)


KEPT = {
    "training dropout": lambda y: F.dropout(y, 0.0, training=True),
    "real pad": lambda y: F.pad(y, (0, 1)),
    "strided pool of one": lambda y: F.avg_pool2d(y, 1, 2),
    "pool with divisor": lambda y: F.avg_pool2d(y, 1, divisor_override=2),
    "transpose": lambda y: y.transpose(2, 3),
    "cast": lambda y: y.double(),
}


@pytest.mark.parametrize("name", KEPT)
def test_operators_that_change_something_stay(name):
    graph, removed = prepared(KEPT[name])
    assert len(targets(graph)) == 2 and not removed


def test_guards_node_goes():
    graph, _ = prepared(lambda y: y)
    assert all(node.op != "call_module" for node in graph.graph.nodes)
    assert not hasattr(graph, "_guards_fn")


@pytest.mark.parametrize(
    "function",
    [lambda y: F.relu_(y), lambda y: y.add_(y), lambda y: y.clamp_(min=-1).mul_(2), lambda y: F.hardtanh_(y, -1, 1)],
)
def test_in_place_operators_become_out_of_place(function):
    graph, _ = prepared(function)
    assert not [name for name in targets(graph) if name.endswith("_")]


def test_in_place_through_a_view_that_is_read_later_is_an_error():
    def function(y):
        y[:, :2].add_(1.0)
        return y

    with pytest.raises(ValueError, match=rf"{__file__}:\d+: aten.add_.Tensor changes a tensor in place"):
        prepared(function)


def test_removed_clone_does_not_let_an_in_place_operator_reach_its_source():
    def function(y):
        z = y.clone()
        z.relu_()
        return y - z

    _graph, removed = prepared(function)
    assert [node.target for node in removed] == ["aten.clone.default"]


def test_view_after_removed_contiguous_accepts_channels_last():
    model = Model(lambda y: y.contiguous().view(1, -1)).eval().to(memory_format=torch.channels_last)
    x = torch.randn(1, 4, 6, 5).to(memory_format=torch.channels_last)
    graph, _ = prepare_graph(torch.export.export(model, (x,)).module())
    assert torch.equal(graph(x), model(x))


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize(("kernel", "dilation"), [((3, 3), 1), ((3, 5), (2, 1)), ((2, 3), 1), ((4, 2), 3)])
def test_padding_by_name_becomes_numbers(padding, kernel, dilation):
    model = nn.Conv2d(3, 4, kernel, padding=padding, dilation=dilation).eval()
    x = torch.randn(1, 3, 16, 15)
    graph, _ = prepare_graph(torch.export.export(model, (x,)).module())
    is_even = padding == "same" and any(size % 2 == 0 for size in kernel)
    assert targets(graph) == (["constant_pad_nd"] if is_even and (dilation != 2) else []) + ["conv2d"]
    torch.testing.assert_close(graph(x), model(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_without_convolution_becomes_depthwise(affine):
    norm = nn.BatchNorm2d(4, affine=affine)
    with torch.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2.0)
        if affine:
            norm.weight.normal_()
            norm.bias.normal_()
    model, x = nn.Sequential(nn.Sigmoid(), norm).eval(), torch.randn(2, 4, 3, 5)
    graph, _ = prepare_graph(torch.export.export(model, (x,)).module())
    assert targets(graph) == ["sigmoid", "conv2d"]
    torch.testing.assert_close(graph(x), model(x))


def test_each_layer_owns_its_constants():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 1)

        def forward(self, x):
            return self.conv(self.conv(x))

    model, x = Twice().eval(), torch.randn(1, 4, 3, 3)
    graph, _ = prepare_graph(torch.export.export(model, (x,)).module())
    names = [node.target for node in graph.graph.nodes if node.op == "get_attr"]
    assert len(names) == len(set(names)) == 4
    assert torch.equal(graph(x), model(x))
    graph.conv.weight.data.zero_()
    assert model.conv.weight.abs().sum() > 0


def test_inputs_keep_their_order():
    class Divide(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("k", torch.ones(3))

        def forward(self, x, y):
            return x / y + self.k

    for module in (Divide(), torch.nn.Bilinear(3, 3, 2)):
        prepared, _ = prepare_graph(
            torch.export.export(module.eval(), (torch.randn(2, 3), torch.rand(2, 3) + 1)).module()
        )
        x, y = torch.randn(2, 3), torch.rand(2, 3) + 1
        assert torch.equal(prepared(x, y), module(x, y))


class WithBuffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randn(4, 4, 3, 3))
        self.register_buffer("bias", torch.randn(4))

    def forward(self, x):
        return F.linear(F.conv2d(x, self.weight, self.bias), self.weight[0, 0])


def test_weights_may_be_buffers():
    """Each layer gets a parameter of its own for them, and the buffer's name is taken."""
    model, x = WithBuffers().eval(), torch.randn(1, 4, 6, 5)
    graph, _ = prepare_graph(torch.export.export(model, (x,)).module())
    assert torch.equal(graph(x), model(x))
    constants = [
        node.args[1] for node in graph.graph.nodes if node.target in (aten.conv2d.default, aten.linear.default)
    ]
    assert all(isinstance(graph.get_parameter(constant.target), nn.Parameter) for constant in constants)
