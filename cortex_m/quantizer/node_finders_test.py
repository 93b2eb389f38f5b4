"""Each finder on a small captured model, by the names and modules that the model itself was written with."""

import pytest
import torch
from torch import nn

from cortex_m.quantizer.node_finders import (
    GlobalNodeFinder,
    InputNodeFinder,
    ModuleNameNodeFinder,
    ModuleTypeNodeFinder,
    NodeNameNodeFinder,
    NodeTargetNodeFinder,
    OutputNodeFinder,
)

aten = torch.ops.aten


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.activation = nn.ReLU()

    def forward(self, x):
        return self.activation(self.conv(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.head = nn.Linear(3, 2)

    def forward(self, x, y):
        return self.head(self.second(self.first(x) + y).mean((2, 3)))


@pytest.fixture(scope="module")
def model():
    inputs = (torch.randn(1, 3, 4, 4), torch.randn(1, 3, 4, 4))
    return torch.export.export(Net().eval(), inputs).module(check_guards=False)


FIRST, SECOND = {"conv2d", "relu"}, {"conv2d_1", "relu_1"}

# finder, calls and boundaries that it finds
CASES = {
    "inputs": (InputNodeFinder(), {"x", "y"}),
    "output": (OutputNodeFinder(), {"output"}),
    "one name": (NodeNameNodeFinder("relu_1"), {"relu_1"}),
    "names": (NodeNameNodeFinder(["relu_1", "add", "absent"]), {"relu_1", "add"}),
    "one target": (NodeTargetNodeFinder(aten.relu.default), {"relu", "relu_1"}),
    "targets": (NodeTargetNodeFinder([aten.add.Tensor, aten.mean.dim]), {"add", "mean"}),
    "one module": (ModuleNameNodeFinder("first"), FIRST),
    "module within": (ModuleNameNodeFinder("second.conv"), {"conv2d_1"}),
    "modules": (ModuleNameNodeFinder(["first", "head"]), FIRST | {"linear"}),
    "prefix of a name is no module": (ModuleNameNodeFinder("sec"), set()),
    "one type": (ModuleTypeNodeFinder(nn.ReLU), {"relu", "relu_1"}),
    "type by name": (ModuleTypeNodeFinder("torch.nn.modules.linear.Linear"), {"linear"}),
    "types": (ModuleTypeNodeFinder([Block, nn.Linear]), FIRST | SECOND | {"linear"}),
}


@pytest.mark.parametrize("case", CASES)
def test_finds(model, case):
    finder, expected = CASES[case]
    found = list(finder.find_nodes(model))
    assert {node.name for node in found} == expected
    order = list(model.graph.nodes)
    assert found == sorted(found, key=order.index)


def test_global_finder_finds_everything(model):
    assert list(GlobalNodeFinder().find_nodes(model)) == list(model.graph.nodes)


def test_inverted_finder_finds_the_rest(model):
    finder = ModuleNameNodeFinder("first")
    inverted = list((~finder).find_nodes(model))
    assert set(inverted) == set(model.graph.nodes) - set(finder.find_nodes(model))
    assert ~~finder is finder
    assert str(~finder) == "everything but modules named first"
