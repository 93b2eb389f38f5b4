"""What a user can choose: which nodes, with which specifications, beside which other quantizer, and strictness."""

import inspect

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import ComposableQuantizer, Quantizer
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cortex_m.quantizer import INT8_PER_TENSOR_CONFIG
from cortex_m.quantizer.node_finders import ModuleNameNodeFinder, ModuleTypeNodeFinder
from cortex_m.quantizer.quantization_configs import (
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT16_ACTIVATION_PER_TENSOR_QSPEC,
    INT16_PER_TENSOR_CONFIG,
)
from cortex_m.quantizer.quantizer import CortexMQuantizer, QuantizationError, mark_node_as_annotated
from cortex_m.quantizer.recipe import DEQUANTIZE, DEQUANTIZE_CHANNELS, QUANTIZE, nodes, qparams, quantize, sqnr_db

aten = torch.ops.aten


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 1))
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


@pytest.fixture
def net():
    torch.manual_seed(3)
    return Net()


def samples(count=4):
    generator = torch.Generator().manual_seed(5)
    return [(torch.randn(1, 3, 8, 8, generator=generator),) for _ in range(count)]


def feeds(model, target):
    """Whether each call of `target` reads a dequantized value."""
    return [node.args[0].target is DEQUANTIZE for node in nodes(model, target)]


def test_only_what_the_finder_finds_is_quantized(net):
    converted, quantizer = quantize(
        net, *samples(), quantizer=CortexMQuantizer(node_finder=ModuleNameNodeFinder("body"))
    )
    assert feeds(converted, aten.conv2d.default) == [True, True]
    assert nodes(converted, aten.linear.default)[0].args[1].op == "get_attr"
    reasons = {node.name: node.reason for node in quantizer.report.float_nodes}
    assert reasons["linear"] == reasons["mean"] == "only modules named body are quantized"
    assert sqnr_db(net(*samples()[0]), converted(*samples()[0])) > 20


def test_a_tail_outside_the_finder_is_not_fused(net):
    converted, quantizer = quantize(
        net, *samples(), quantizer=CortexMQuantizer(node_finder=~ModuleTypeNodeFinder(nn.ReLU))
    )
    (relu,) = nodes(converted, aten.relu.default)
    assert relu.args[0].target is DEQUANTIZE and next(layer.nodes for layer in quantizer.report.quantized) == (
        "conv2d",
    )
    assert {node.name for node in quantizer.report.float_nodes} == {"relu"}


def test_two_quantizers_share_a_model(net):
    body = CortexMQuantizer(node_finder=ModuleNameNodeFinder("body"))
    rest = CortexMQuantizer(INT8_PER_TENSOR_CONFIG)
    converted, _ = quantize(net, *samples(), quantizer=ComposableQuantizer([body, rest]))
    assert len(nodes(converted, DEQUANTIZE_CHANNELS)) == 4, "weights and biases of the convolutions"
    (linear,) = nodes(converted, aten.linear.default)
    assert linear.args[1].target is DEQUANTIZE, "the head has one scale a tensor"
    # The seam is quantized once: mean takes over the scale of the convolution before it.
    scales = [qparams(node) for node in nodes(converted, QUANTIZE)]
    assert len(scales) == 5 and scales[2] == scales[3], "input, relu, conv2d_1, mean, linear"
    assert [node.name for node in rest.report.float_nodes] == ["conv2d", "relu", "conv2d_1"]
    assert {node.reason for node in rest.report.float_nodes} == {"Tried annotating already quantized node."}
    summaries = [quantizer.report.tuner.summary for quantizer in (body, rest)]
    assert sum(summary.startswith("tuned on 4 samples") for summary in summaries) == 1, summaries
    assert sqnr_db(net(*samples()[0]), converted(*samples()[0])) > 20


class Int16Convolutions(Quantizer):
    """Somebody else's quantizer: annotates all convolutions, inputs and outputs with int16."""

    def annotate(self, model):
        for node in model.graph.nodes:
            if node.target is aten.conv2d.default:
                mark_node_as_annotated(
                    node, {node.args[0]: INT16_ACTIVATION_PER_TENSOR_QSPEC}, INT16_ACTIVATION_PER_TENSOR_QSPEC, True
                )
        return model

    def validate(self, model):
        pass


def test_another_quantizers_dtype_is_not_taken_over(net):
    ours = CortexMQuantizer()
    converted, _ = quantize(net, *samples(), quantizer=ComposableQuantizer([Int16Convolutions(), ours]))
    dtypes = [node.args[5] for node in nodes(converted, QUANTIZE)]
    assert torch.int16 in dtypes and torch.int8 in dtypes
    (mean,) = nodes(converted, aten.mean.dim)
    assert mean.args[0].args[5] is torch.int8, "mean reads int8, whatever the convolution wrote"
    assert [layer.pattern for layer in ours.report.quantized][-1] == "linear"


def test_nodes_marked_as_float_stay_so(net):
    captured = torch.export.export(net.eval(), samples()[0]).module(check_guards=False)
    for node in captured.graph.nodes:
        if node.target is aten.linear.default:
            mark_node_as_annotated(node, {}, None, is_quantized=False)
    prepared = prepare_pt2e(captured, CortexMQuantizer(strict=True))
    prepared(*samples()[0])
    (linear,) = nodes(convert_pt2e(prepared), aten.linear.default)
    assert linear.args[1].op == "get_attr"


def test_a_mark_that_contradicts_itself_is_refused(net):
    captured = torch.export.export(net.eval(), samples()[0]).module(check_guards=False)
    node = next(node for node in captured.graph.nodes if node.target is aten.linear.default)
    with pytest.raises(ValueError, match="'linear' is to stay float, but has 1"):
        mark_node_as_annotated(node, {}, INT8_ACTIVATION_PER_TENSOR_QSPEC, is_quantized=False)
    assert Q_ANNOTATION_KEY not in node.meta


class Float(nn.Module):
    def forward(self, x):
        y = torch.cumsum(x, 1)
        return torch.fft.rfft(y), torch.linalg.vector_norm(y)


def test_strict_lists_every_refusal_with_its_line():
    captured = torch.export.export(Float(), (torch.randn(2, 8),)).module(check_guards=False)
    _lines, first = inspect.getsourcelines(Float.forward)
    with pytest.raises(QuantizationError) as caught:
        prepare_pt2e(captured, CortexMQuantizer(strict=True))
    text = str(caught.value)
    for offset, target in ((1, "cumsum"), (2, "fft_rfft"), (2, "linalg_vector_norm")):
        assert any(
            f"{__file__}:{first + offset}: " in line and f"(aten.{target}.default): " in line
            for line in text.splitlines()
        ), text


def test_strict_accepts_what_the_user_keeps_in_float(net):
    finder = ModuleNameNodeFinder("body")
    _, quantizer = quantize(net, *samples(), quantizer=CortexMQuantizer(node_finder=finder, strict=True))
    assert len(quantizer.report.float_nodes) == 2


def test_strict_accepts_a_model_that_is_int8_throughout(net):
    _, quantizer = quantize(net, *samples(), quantizer=CortexMQuantizer(strict=True))
    assert not quantizer.report.float_nodes


def test_explicit_layout_gives_the_same_model(net):
    plain, _ = quantize(net, *samples())
    explicit, _ = quantize(net, *samples(), quantizer=CortexMQuantizer(use_explicit_layout=True))
    assert torch.equal(plain(*samples()[0]), explicit(*samples()[0]))


def test_a_dtype_that_a_layer_has_no_operator_for_is_refused(net):
    _, quantizer = quantize(net, *samples(), quantizer=CortexMQuantizer(INT16_PER_TENSOR_CONFIG))
    reasons = {node.name: node.reason for node in quantizer.report.float_nodes}
    assert reasons["linear"] == "linear has no int16 operator"
    assert len(quantizer.report.quantized) == 2, "convolutions are int8 whatever the others are"


def test_guards_of_export_are_no_obstacle(net):
    """A module captured by a file whose path torch does not exempt carries a call of its guards."""
    exported = torch.export.export(net.eval(), samples()[0])
    captured = [exported.module(), exported.module(check_guards=False)]
    assert [any(node.op == "call_module" for node in module.graph.nodes) for module in captured] == [True, False]
    outputs = []
    for module in captured:
        prepared = prepare_pt2e(module, CortexMQuantizer(strict=True))
        prepared(*samples()[0])
        outputs.append(convert_pt2e(prepared)(*samples()[0]))
    assert torch.equal(*outputs)
