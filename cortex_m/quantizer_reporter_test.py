"""The report's text, for quantizers whose decisions are known."""

import logging
import re

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cortex_m.quantizer.quantization_configs import INT8_ACTIVATION_PER_TENSOR_QSPEC, SOFTMAX_OUTPUT_FIXED_QSPEC
from cortex_m.quantizer.quantizer import CortexMQuantizer, mark_node_as_annotated
from cortex_m.quantizer_reporter import (
    PREVIOUS_ANNOTATION,
    QuantizerInfo,
    QuantizerReporter,
    QuantizerReporterUser,
    qspec_repr,
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return torch.cumsum(torch.relu(self.conv(x)), 1).flatten(1)


def captured():
    return torch.export.export(Net().eval(), (torch.randn(1, 3, 4, 4),)).module(check_guards=False)


def report(level, caplog):
    with caplog.at_level(level, logger="cortex_m.quantizer_reporter"):
        prepare_pt2e(captured(), CortexMQuantizer())
    return [record.getMessage() for record in caplog.records if record.name == "cortex_m.quantizer_reporter"][-1]


def test_counts_are_logged(caplog):
    text = report(logging.INFO, caplog)
    assert text.splitlines()[1].strip() == "QUANTIZATION REPORT" and text.splitlines()[0] == "-" * 100
    assert "CortexMQuantizer targeting all nodes" in text
    assert "Annotating with int8 activations, int8 weights per channel" in text
    assert "Accepted nodes: 2\nRejected due to previous annotation: 0\nRejected nodes: 2" in text
    assert "NODE NAME" not in text


def test_rows_are_logged_for_debugging(caplog):
    text = report(logging.DEBUG, caplog)
    assert re.search(r"NODE NAME +INPUT QSPEC MAP +OUTPUT QSPEC MAP", text)
    assert re.search(r"╒ conv2d +x: QuantizationSpec\(dtype=INT8, range=\(-128,127\)\) +float", text)
    assert "conv_weight: QuantizationSpec(dtype=INT8, range=(-127,127))" in text
    assert re.search(r"╘ relu +QuantizationSpec\(dtype=INT8, range=\(-128,127\)\)", text)
    assert re.search(r"cumsum +no int8 pattern has this operator", text)
    assert "Non annotated nodes: cumsum, flatten" in text


class Fake(QuantizerReporterUser):
    def get_quantizer_info(self):
        return QuantizerInfo("Fake", "nothing", "no config", "nowhere")


def test_previous_annotations_are_counted_apart():
    user, idle = Fake(), Fake()
    reporter = QuantizerReporter([user, idle], report_title="TITLE")
    nodes = [node for node in captured().graph.nodes if node.op == "call_function"]
    mark_node_as_annotated(nodes[0], {}, INT8_ACTIVATION_PER_TENSOR_QSPEC, True)
    user.report_accept(nodes[:1])
    user.report_reject(nodes[1:3], PREVIOUS_ANNOTATION)
    user.report_reject(nodes[3:4], "because")
    counts = reporter.reports[user]
    assert (counts.accepted_node_count, counts.rejected_previous_annotation_count, counts.rejected_node_count) == (
        1,
        2,
        1,
    )
    text = reporter.get_quantization_report()
    assert "TITLE" in text and text.count("No patterns accepted or rejected.") == 1


def test_a_user_must_introduce_itself():
    with pytest.raises(NotImplementedError, match="override get_quantizer_info"):
        QuantizerReporter([QuantizerReporterUser()])


def test_specifications_in_a_line():
    assert qspec_repr(None) == "float"
    assert qspec_repr(INT8_ACTIVATION_PER_TENSOR_QSPEC) == "QuantizationSpec(dtype=INT8, range=(-128,127))"
    assert "scale=0.00390625, zero_point=-128" in qspec_repr(SOFTMAX_OUTPUT_FIXED_QSPEC)
