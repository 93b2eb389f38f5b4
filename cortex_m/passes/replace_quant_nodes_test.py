"""ReplaceQuantNodesPass in a list of passes of one's own, and PatternCheck in a support table."""

import pytest
import torch
from executorch.exir import to_edge
from torch.export import export

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.passes.recipe import round_trip
from cortex_m.passes.replace_quant_nodes_pass import ReplaceQuantNodesPass
from cortex_m.quantizer import INT8_PER_TENSOR_CONFIG
from cortex_m.quantizer.pattern_checkers import PatternCheck
from cortex_m.quantizer.pattern_matcher import PatternMatcher


class Rounded(torch.nn.Module):
    def forward(self, x):
        return round_trip(torch.sinc(round_trip(x, 0.1, 3)), 0.02, -5)


def names(program):
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def test_quantize_and_dequantize_become_cortex_m_operators():
    x = torch.randn(4)
    edge = to_edge(export(Rounded(), (x,)), compile_config=cortex_m_edge_compile_config())
    before = edge.exported_program()
    after = CortexMPassManager(before, passes=[ReplaceQuantNodesPass]).transform()
    assert [name.split(".")[-2] for name in names(after) if "cortex_m" in name] == [
        "quantize_per_tensor",
        "dequantize_per_tensor",
    ] * 2
    assert not any("quantized_decomposed" in name for name in names(after))
    quantizers = [node for node in after.graph.nodes if "cortex_m.quantize_per_tensor" in str(node.target)]
    assert [node.args[1:] for node in quantizers] == [
        (0.1, 3, -128, 127, torch.int8),
        (0.02, -5, -128, 127, torch.int8),
    ]


def test_outside_of_the_edge_dialect_it_is_an_error():
    module = export(Rounded(), (torch.randn(4),)).graph_module
    with pytest.raises(RuntimeError, match="no edge operator"):
        ReplaceQuantNodesPass()(module)


class Rows(PatternCheck):
    @classmethod
    def check_pattern(cls, pattern):
        return pattern[0].meta["val"].dim() == 2


class NoConfig(PatternCheck):
    @classmethod
    def check_quantization_config(cls, pattern, quantization_config):
        return False


@pytest.mark.parametrize(
    ("check", "accepted"), [(PatternCheck, [True, True]), (Rows, [True, False]), (NoConfig, [False] * 2)]
)
def test_a_check_of_ones_own_decides(check, accepted):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x + x, y + y

    graph = export(Model(), (torch.randn(2, 3), torch.randn(2, 3, 4))).module().graph
    matcher = PatternMatcher({(torch.ops.aten.add.Tensor,): check})
    assert [match.accepted for match in matcher.find_pattern_matches(graph.nodes, INT8_PER_TENSOR_CONFIG)] == accepted
