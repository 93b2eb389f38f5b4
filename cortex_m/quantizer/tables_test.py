"""What becomes a table, on graphs written by hand."""

import torch
from torch.fx import Graph

from cortex_m.quantizer.tables import find_parts, is_one_element

aten = torch.ops.aten


def product(constant: torch.Tensor):
    """The graph of x * constant, x with three elements, and its nodes."""
    graph = Graph()
    x, k = graph.placeholder("x"), graph.get_attr("k")
    y = graph.call_function(aten.mul.Tensor, (x, k))
    x.meta["val"], k.meta["val"] = torch.zeros(3), constant
    y.meta["val"] = x.meta["val"] * constant
    graph.output(y)  # a part ends where somebody else reads
    return graph, y


def parts(graph: Graph):
    return find_parts(graph, lambda node: True, lambda node: ())


def test_a_constant_of_a_table_has_one_element():
    for constant, one in (
        (torch.zeros(1), True),
        (torch.zeros(()), True),
        (torch.zeros(2), False),
        (torch.zeros(3), False),
    ):
        graph = Graph()
        node = graph.get_attr("k")
        node.meta["val"] = constant
        assert is_one_element(node) == one, constant


def test_a_table_keeps_the_shape_of_its_input():
    graph, y = product(torch.zeros(1))
    assert [part.nodes for part in parts(graph)] == [(y,)]
    graph, _ = product(torch.zeros(1, 1))
    assert parts(graph) == []
