"""PatternMatcher by itself, with the package's table and with tables of its own."""

import pytest
import torch
from torch import nn

from cortex_m.quantizer.pattern_matcher import PatternMatcher, PatternMatchResult
from cortex_m.quantizer.patterns import PATTERNS
from cortex_m.quantizer.quantization_configs import (
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
    INT16_PER_TENSOR_CONFIG,
)
from cortex_m.quantizer.quantizer import mark_node_as_annotated

aten = torch.ops.aten


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.other = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        z = self.other(y)
        return torch.relu(z) + z, torch.cumsum(y, 1)


@pytest.fixture
def nodes():
    captured = torch.export.export(Net().eval(), (torch.randn(1, 2, 4, 4),)).module(check_guards=False)
    return list(captured.graph.nodes)


def summary(results):
    return [([node.name for node in result.pattern], result.accepted) for result in results]


def test_the_longest_chain_with_one_user_each(nodes):
    results = list(PatternMatcher().find_pattern_matches(nodes, INT8_PER_CHANNEL_CONFIG))
    assert summary(results) == [
        (["conv2d", "relu"], True),
        (["conv2d_1"], True),  # its value is read twice
        (["relu_1"], True),
        (["add"], True),
    ]
    assert all(isinstance(result, PatternMatchResult) and result.message is None for result in results)


def test_a_node_is_taken_once(nodes):
    matcher = PatternMatcher()
    first = [node for node in nodes if node.name in ("conv2d", "relu")]
    assert summary(matcher.find_pattern_matches(first, INT8_PER_CHANNEL_CONFIG)) == [(["conv2d", "relu"], True)]
    again = list(matcher.find_pattern_matches(nodes, INT8_PER_TENSOR_CONFIG))
    assert summary(again)[:2] == [(["conv2d"], False), (["relu"], False)]
    assert again[0].message == "Tried annotating already quantized node."


def test_annotated_nodes_are_left_alone(nodes):
    relu = next(node for node in nodes if node.name == "relu")
    mark_node_as_annotated(relu, {}, None, is_quantized=False)
    results = list(PatternMatcher().find_pattern_matches(nodes, INT8_PER_CHANNEL_CONFIG))
    assert summary(results)[:2] == [(["conv2d"], True), (["relu"], False)]


def test_only_nodes_that_are_given_are_matched(nodes):
    results = PatternMatcher().find_pattern_matches([n for n in nodes if n.name == "conv2d"], INT8_PER_CHANNEL_CONFIG)
    assert summary(results) == [(["conv2d"], True)]


def test_refusals_have_their_reason(nodes):
    results = list(PatternMatcher().find_pattern_matches(nodes, INT16_PER_TENSOR_CONFIG))
    assert results[0].message == "conv2d has no int16 operator" and not results[0].accepted


def test_without_a_config_everything_stays_float(nodes):
    results = PatternMatcher().find_pattern_matches(nodes, None)
    assert summary(results)[:2] == [(["conv2d"], True), (["relu"], True)]


class Checker:
    """A table's own idea of what it takes: no second convolution, and per-tensor weights."""

    @classmethod
    def check_pattern(cls, pattern):
        return pattern[0].name != "conv2d_1"

    @classmethod
    def check_quantization_config(cls, pattern, quantization_config):
        return not quantization_config.per_channel


def test_tables_with_checkers_of_their_own(nodes):
    table = {(aten.conv2d.default,): Checker, (aten.conv2d.default, aten.relu.default): Checker}
    matcher = PatternMatcher(table, "mine")
    assert matcher.support_dict_name == "mine"
    results = list(matcher.find_pattern_matches(nodes, INT8_PER_TENSOR_CONFIG))
    assert summary(results) == [(["conv2d", "relu"], True), (["conv2d_1"], False)]
    assert results[1].message == "Tried annotating unsupported configuration of operators"
    per_channel = list(PatternMatcher(table).find_pattern_matches(nodes, INT8_PER_CHANNEL_CONFIG))
    assert per_channel[0].message == "Tried annotating unsupported quantization config"


def test_the_table_has_every_pattern_and_its_tails():
    chains = PatternMatcher().support_dict
    for pattern in PATTERNS:
        for head in pattern.heads:
            assert chains[(head,)] is pattern
            assert all(chains[(head, tail)] is pattern for tail in pattern.tails)
