"""Each pattern of the table through prepare_pt2e and convert_pt2e: which nodes are int8, and whose scales they have.

Expected scales come from the ranges of the float model's own tensors, expected values from the float model.
"""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.quantizer import INT8_PER_TENSOR_CONFIG
from cortex_m.quantizer.observers import NotCalibratedError
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import (
    DEQUANTIZE,
    DEQUANTIZE_CHANNELS,
    QUANTIZE,
    input_qparams,
    nodes,
    output_qparams,
    quantize,
    sqnr_db,
    targets,
)

aten = torch.ops.aten


class Lambda(nn.Module):
    """A module of some layers and a function of (layers, inputs)."""

    def __init__(self, function, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.function = function

    def forward(self, *inputs):
        return self.function(self.layers, *inputs)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(2)


def image(*shape: int) -> torch.Tensor:
    """Signed noise with an offset, so that zero points are not zero."""
    return torch.randn(*shape) + 0.3


def assert_close_to_float(model: nn.Module, converted, inputs: tuple, stages: int, floor_db: float = 0.0) -> None:
    """The int8 model follows the float one.

    A uniform quantizer of 8 bits over a range of about 8 standard deviations has an SQNR of
    10 log10(12 * 255^2 / 8^2) = 40 dB; each of `stages` tensors adds the same noise again, and 6 dB are for
    ranges that are wider and weights.
    """
    with torch.no_grad():
        expected, actual = model(*inputs), converted(*inputs)
    bound = floor_db or 40.0 - 6.0 - 10.0 * torch.log10(torch.tensor(float(stages))).item()
    assert sqnr_db(expected, actual) > bound


ACTIVATIONS = {
    "none": lambda y: y,
    "relu": F.relu,
    "relu_": F.relu_,
    "relu6": F.relu6,
    "hardtanh": lambda y: F.hardtanh(y, -0.5, 1.5),
    "hardtanh_": lambda y: F.hardtanh_(y, -0.5, 1.5),
    "clamp": lambda y: torch.clamp(y, min=-0.25),
    "clamp_": lambda y: y.clamp_(max=0.75),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["conv2d", "depthwise", "linear", "add"])
def test_layer_with_fused_activation_has_one_output_scale(kind, activation):
    act = ACTIVATIONS[activation]
    if kind == "linear":
        model, inputs = Lambda(lambda m, x: act(m[0](x)), nn.Linear(24, 10)), (image(3, 24),)
    elif kind == "add":
        model, inputs = Lambda(lambda m, x, y: act(x + y)), (image(1, 4, 5, 6), 2 * image(1, 4, 5, 6))
    else:
        groups = 8 if kind == "depthwise" else 1
        model = Lambda(lambda m, x: act(m[0](x)), nn.Conv2d(8, 8, 3, padding=1, groups=groups))
        inputs = (image(1, 8, 9, 7),)
    converted, quantizer = quantize(model, inputs)

    # One quantize for each input, one after the activation; none between layer and activation.
    assert len(nodes(converted, QUANTIZE)) == len(inputs) + 1
    assert len(nodes(converted, DEQUANTIZE)) == len(inputs) + 1
    assert len(targets(converted)) == (1 if activation == "none" else 2)
    assert not quantizer.report.float_nodes
    assert_close_to_float(model, converted, inputs, stages=3)


def test_weights_are_per_channel_and_bias_has_the_product_of_scales():
    model = Lambda(lambda m, x: m[1](m[0](x).flatten(1)), nn.Conv2d(3, 5, 3), nn.Linear(5 * 4 * 4, 7))
    inputs = (image(1, 3, 6, 6),)
    # Without tuning, which moves the mean error of the weights into the bias.
    converted, _ = quantize(model, inputs, quantizer=CortexMQuantizer(tune=False))
    (conv,), (linear,) = nodes(converted, aten.conv2d.default), nodes(converted, aten.linear.default)
    for layer, float_layer in ((conv, model.layers[0]), (linear, model.layers[1])):
        weight, bias = layer.args[1], layer.args[2]
        assert weight.target is DEQUANTIZE_CHANNELS and bias.target is DEQUANTIZE_CHANNELS
        weight_scale = getattr(converted, weight.args[1].target)
        bias_scale = getattr(converted, bias.args[1].target)
        channels = float_layer.weight.shape[0]
        assert weight_scale.shape == bias_scale.shape == (channels,)
        torch.testing.assert_close(bias_scale, weight_scale * input_qparams(layer)[0])
        stored = getattr(converted, bias.args[0].target)
        assert stored.dtype == torch.int32 and getattr(converted, weight.args[0].target).dtype == torch.int8
        # Within half a step of the float bias.
        assert ((stored * bias_scale - float_layer.bias).abs() <= 0.51 * bias_scale).all()


def test_per_tensor_config_gives_linear_one_weight_scale():
    model, inputs = nn.Linear(24, 10), (image(3, 24),)
    converted, _ = quantize(model, inputs, quantizer=CortexMQuantizer(INT8_PER_TENSOR_CONFIG))
    (linear,) = nodes(converted, aten.linear.default)
    assert linear.args[1].target is DEQUANTIZE and linear.args[2].target is DEQUANTIZE
    assert linear.args[2].args[1] == pytest.approx(linear.args[1].args[1] * input_qparams(linear)[0], rel=1e-6)
    assert_close_to_float(model, converted, inputs, stages=3)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("act", [nn.ReLU6(inplace=True), nn.ReLU6(), nn.ReLU(), nn.Identity()])
def test_batch_norm_after_convolution_folds(bias, act):
    bn = nn.BatchNorm2d(6)
    with torch.no_grad():
        bn.running_mean.normal_()
        bn.running_var.uniform_(0.5, 2.0)
        bn.weight.uniform_(0.5, 2.0)
        bn.bias.normal_()
    model = Lambda(lambda m, x: m[2](m[1](m[0](x))), nn.Conv2d(4, 6, 3, bias=bias), bn, act)
    inputs = (image(1, 4, 8, 8),)
    converted, quantizer = quantize(model, inputs)
    assert "batch_norm" not in targets(converted)
    assert len(nodes(converted, QUANTIZE)) == 2 and not quantizer.report.float_nodes
    assert_close_to_float(model, converted, inputs, stages=3)


def test_batch_norm_after_linear_folds():
    bn = nn.BatchNorm1d(6)
    with torch.no_grad():
        bn.running_mean.normal_()
        bn.running_var.uniform_(0.5, 2.0)
    model, inputs = Lambda(lambda m, x: F.relu(m[1](m[0](x))), nn.Linear(8, 6), bn), (image(5, 8),)
    converted, quantizer = quantize(model, inputs)
    assert targets(converted) == ["linear", "relu"] and not quantizer.report.float_nodes
    assert_close_to_float(model, converted, inputs, stages=3)


def test_the_float_model_keeps_its_weights():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU6(), nn.Conv2d(4, 4, 3, groups=4), nn.ReLU6())
    before = copy.deepcopy(model.state_dict())
    quantize(model, (image(1, 3, 8, 8),))
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_residual_add_operands_have_scales_of_their_own():
    model = Lambda(lambda m, x: F.relu(m[1](m[0](x)) + m[0](x)), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1))
    inputs = (image(1, 4, 6, 6),)
    converted, _ = quantize(model, inputs)
    (add,) = nodes(converted, aten.add.Tensor)
    assert len({input_qparams(add, 0), input_qparams(add, 1), output_qparams(next(iter(add.users)))}) == 3


def test_a_tensor_with_two_quantized_users_is_quantized_once():
    model = Lambda(lambda m, x: (m[0](x), m[1](x)), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 2, 3))
    converted, _ = quantize(model, (image(1, 4, 6, 6),))
    first, second = nodes(converted, aten.conv2d.default)
    assert first.args[0].args[0] is second.args[0].args[0]
    assert len(nodes(converted, QUANTIZE)) == 3


def test_adding_a_tensor_to_itself():
    model, inputs = Lambda(lambda m, x: x + x), (image(1, 4, 6, 6),)
    converted, _ = quantize(model, inputs)
    (add,) = nodes(converted, aten.add.Tensor)
    assert input_qparams(add, 0) == input_qparams(add, 1)
    assert_close_to_float(model, converted, inputs, stages=2)


def test_activation_that_no_layer_takes_in_has_scales_of_its_own():
    model = Lambda(lambda m, x: (lambda y: m[1](F.relu6(y)) + y)(m[0](x)), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1))
    inputs = (3 * image(1, 4, 6, 6),)
    converted, quantizer = quantize(model, inputs)
    (relu6,) = nodes(converted, aten.relu6.default)
    assert input_qparams(relu6) != output_qparams(relu6) and output_qparams(relu6)[1] == -128
    assert not quantizer.report.float_nodes
    assert_close_to_float(model, converted, inputs, stages=5)


def test_activation_after_moved_data_after_a_layer_is_quantized():
    model = Lambda(lambda m, x: F.relu(m[0](x).flatten(1)), nn.Conv2d(4, 4, 1))
    converted, quantizer = quantize(model, (image(1, 4, 6, 6),))
    assert len(nodes(converted, QUANTIZE)) == 4 and not quantizer.report.float_nodes


POOLS = {
    "mean": lambda y: y.mean([2, 3]),
    "mean keepdim": lambda y: y.mean((-1, -2), keepdim=True),
    "adaptive": lambda y: F.adaptive_avg_pool2d(y, 1),
    "adaptive 2x3": lambda y: F.adaptive_avg_pool2d(y, (2, 3)),
    "avg_pool2d": lambda y: F.avg_pool2d(y, 3, stride=2, padding=1),
    "avg_pool2d rectangle": lambda y: F.avg_pool2d(y, (2, 1), count_include_pad=False),
}


@pytest.mark.parametrize("pool", POOLS)
def test_pool_shares_the_scale_of_its_input(pool):
    model = Lambda(lambda m, x: POOLS[pool](m[0](x)), nn.Conv2d(4, 6, 1))
    inputs = (image(1, 4, 6, 6),)
    converted, quantizer = quantize(model, inputs)
    (node,) = [n for n in converted.graph.nodes if "pool" in n.name or "mean" in n.name]
    assert input_qparams(node) == output_qparams(node)
    assert len(nodes(converted, QUANTIZE)) == 3 and not quantizer.report.float_nodes


def test_pool_of_a_graph_input_is_quantized():
    converted, quantizer = quantize(Lambda(lambda m, x: F.avg_pool2d(x, 2)), (image(1, 4, 6, 6),))
    assert len(nodes(converted, QUANTIZE)) == 2 and not quantizer.report.float_nodes


MOVES = {
    "flatten": lambda y: torch.flatten(y, 1),
    "view": lambda y: y.contiguous().view(1, -1),
    "reshape": lambda y: y.reshape(-1),
    "unsqueeze": lambda y: y.unsqueeze(0),
    "squeeze": lambda y: y.squeeze(0),
    "squeeze all": lambda y: y.squeeze(),
    "permute": lambda y: y.permute(0, 2, 3, 1),
    "transpose": lambda y: y.transpose(1, 2),
    "pad": lambda y: F.pad(y, (1, 0, 2, 1)),
    "reflection pad": lambda y: torch.ops.aten.reflection_pad2d.default(y, [1, 0, 2, 1]),
    "replication pad": lambda y: torch.ops.aten.replication_pad2d.default(y, [1, 0, 2, 1]),
    "pad value": lambda y: F.pad(y, (1, 0, 2, 1), value=-0.5),
    "cat with itself": lambda y: torch.cat([y, y], 1),
    "two moves": lambda y: y.permute(0, 2, 3, 1).flatten(1),
}


@pytest.mark.parametrize("move", MOVES)
def test_moved_data_keep_the_scale_of_the_layer_before(move):
    model = Lambda(lambda m, x: MOVES[move](m[0](x)), nn.Conv2d(4, 6, 1))
    inputs = (image(1, 4, 6, 6),)
    converted, quantizer = quantize(model, inputs)
    (conv,) = nodes(converted, aten.conv2d.default)
    scales = {(node.args[1], node.args[2]) for node in nodes(converted, QUANTIZE)}
    assert len(scales) == 2  # the input's and the layer's
    assert output_qparams(conv) in scales and not quantizer.report.float_nodes
    assert_close_to_float(model, converted, inputs, stages=3)


def test_moved_graph_input_is_quantized_before_the_move():
    converted, _ = quantize(Lambda(lambda m, x: m[0](x.flatten(1)), nn.Linear(48, 5)), (image(2, 3, 4, 4),))
    (flatten,) = nodes(converted, aten.flatten.using_ints)
    (linear,) = nodes(converted, aten.linear.default)
    assert flatten.args[0].target is DEQUANTIZE
    assert input_qparams(flatten) == output_qparams(flatten) == input_qparams(linear)


def test_cat_gives_its_producers_one_scale():
    model = Lambda(
        lambda m, x: m[2](torch.cat([m[0](x), F.relu(m[1](x))], 1)),
        nn.Conv2d(4, 4, 1),
        nn.Conv2d(4, 4, 1),
        nn.Conv2d(8, 4, 1),
    )
    inputs = (image(1, 4, 6, 6),)
    converted, _ = quantize(model, inputs)
    (cat,) = nodes(converted, aten.cat.default)
    assert {(dq.args[1], dq.args[2]) for dq in cat.args[0]} == {output_qparams(cat)}
    # Input, both branches, cat, output: nobody is quantized twice.
    assert len(nodes(converted, QUANTIZE)) == 5
    assert_close_to_float(model, converted, inputs, stages=5)


def test_cat_of_a_softmax_and_a_layer_takes_a_common_scale():
    model = Lambda(
        lambda m, x: m[2](torch.cat([m[0](x).softmax(-1), m[1](x)], -1)), *[nn.Linear(8, 8)] * 2, nn.Linear(16, 4)
    )
    inputs = (3 * image(4, 8),)
    converted, _ = quantize(model, inputs)
    (cat,) = nodes(converted, aten.cat.default)
    assert {(dq.args[1], dq.args[2]) for dq in cat.args[0]} == {output_qparams(cat)}
    assert output_qparams(cat) != (1 / 256, -128)
    assert_close_to_float(model, converted, inputs, stages=5)


@pytest.mark.parametrize("after", ["nothing", "view", "linear"])
def test_softmax_output_is_fixed_and_quantized_once(after):
    use = {"nothing": lambda m, y: y, "view": lambda m, y: y.view(-1), "linear": lambda m, y: m[1](y)}[after]
    model = Lambda(lambda m, x: use(m, torch.softmax(m[0](x), dim=-1)), nn.Linear(8, 8), nn.Linear(8, 3))
    inputs = (3 * image(4, 8),)
    converted, quantizer = quantize(model, inputs)
    (softmax,) = nodes(converted, aten.softmax.int)
    assert output_qparams(softmax) == (1 / 256, -128)
    assert len(nodes(converted, QUANTIZE)) == (3 if after == "nothing" else 4)
    if after == "linear":
        assert input_qparams(nodes(converted, aten.linear.default)[1]) == (1 / 256, -128)
    assert not quantizer.report.float_nodes


def test_shared_weight_is_quantized_for_each_of_its_layers():
    model = Lambda(lambda m, x: m[0](m[0](x)), nn.Conv2d(4, 4, 1))
    inputs = (image(1, 4, 6, 6),)
    # Without tuning, which gives each use channel factors of its own.
    converted, _ = quantize(model, inputs, quantizer=CortexMQuantizer(tune=False))
    first, second = nodes(converted, aten.conv2d.default)
    assert first.args[1] is not second.args[1]
    assert torch.equal(
        getattr(converted, first.args[1].args[1].target), getattr(converted, second.args[1].args[1].target)
    )
    assert not torch.equal(
        getattr(converted, first.args[2].args[1].target), getattr(converted, second.args[2].args[1].target)
    )
    assert_close_to_float(model, converted, inputs, stages=4)


def test_float_neighbours_read_what_the_layer_gives_and_stay_float():
    model = Lambda(lambda m, x: m[1](torch.sinc(m[0](x))) + torch.i0(x), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1))
    converted, quantizer = quantize(model, (image(1, 4, 6, 6),))
    (bessel,) = nodes(converted, aten.i0.default)
    assert bessel.args[0].op == "placeholder"
    assert {node.name for node in quantizer.report.float_nodes} == {"sinc", "i0"}


def test_output_that_is_also_used_inside_is_the_dequantized_value():
    model = Lambda(lambda m, x: (lambda y: (y, m[1](y)))(m[0](x)), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1))
    converted, _ = quantize(model, (image(1, 4, 6, 6),))
    (output,) = [node for node in converted.graph.nodes if node.op == "output"]
    assert all(value.target is DEQUANTIZE for value in output.args[0])
    assert len(nodes(converted, QUANTIZE)) == 3


def test_the_recipe_runs_to_a_second_export():
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU6(inplace=True), nn.Flatten(), nn.Dropout(), nn.Linear(64, 5)
    )
    inputs = (image(1, 3, 6, 6),)
    captured = torch.export.export(model.eval(), inputs).module()
    assert any(node.op == "call_module" for node in captured.graph.nodes), "export made no guards node"
    prepared = prepare_pt2e(captured, CortexMQuantizer())
    prepared(*inputs)
    converted = convert_pt2e(prepared)
    assert not [node for node in converted.graph.nodes if node.op == "call_module"]
    again = torch.export.export(converted, inputs).module()
    assert torch.equal(again(*inputs), converted(*inputs))


def test_conversion_without_calibration_is_an_error():
    captured = torch.export.export(nn.Conv2d(3, 4, 3).eval(), (image(1, 3, 6, 6),)).module()
    prepared = prepare_pt2e(captured, CortexMQuantizer())
    with pytest.raises(NotCalibratedError, match="never run"):
        convert_pt2e(prepared)


def test_calibration_with_infinity_is_an_error():
    with pytest.raises(ValueError, match="inf"):
        quantize(nn.Conv2d(3, 4, 1), (torch.full((1, 3, 2, 2), float("inf")),))
