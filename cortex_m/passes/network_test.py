"""Whole small networks: what the file contains, in which layout, and that its outputs are those of the quantized graph."""

import pytest
import torch
from torch import nn
from torch.export import export

from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.passes.recipe import lower_exported, quantize, quantize_and_lower


class Residual(nn.Module):
    """The shapes of MobileNetV2 in small: stem, inverted residual, head, mean, dropout, classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.expand = nn.Sequential(nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU6()
        )
        self.project = nn.Sequential(nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 10))

    def forward(self, x):
        x = self.stem(x)
        x = x + self.project(self.depthwise(self.expand(x)))
        return self.classifier(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


RESIDUAL_OPS = [
    "quantize_to_nhwc",
    "quantized_conv2d_nhwc",
    "quantized_conv2d_nhwc",
    "quantized_depthwise_conv2d_nhwc",
    "quantized_conv2d_nhwc",
    "quantized_add",
    "quantized_avg_pool2d_nhwc",
    "quantized_linear_per_channel",
    "dequantize_per_tensor",
]


def image(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def seeded(module_class, *args):
    torch.manual_seed(7)
    return module_class(*args).eval()


def close(lowered, *inputs, steps):
    """Outputs within some steps of the last dequantize's scale of those of the quantized graph in float."""
    scale = [node for node in lowered.edge.graph.nodes if "dequantize" in str(node.target)][-1].args[1]
    for got, want in zip(lowered.run(*inputs), lowered.reference(*inputs), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        assert float((got - want).abs().max()) <= steps * scale * 1.001


@pytest.fixture(scope="module")
def residual():
    return quantize_and_lower(seeded(Residual), image(1, 3, 16, 16))


def test_every_op_is_int8_and_nothing_else_is_left(residual):
    assert residual.ops == RESIDUAL_OPS
    assert not residual.report.refusals and not residual.report.layout_copies
    close(residual, image(1, 3, 16, 16), steps=3)


def test_the_file_holds_only_constants_that_instructions_read(residual):
    used = residual.used_constants()
    assert used == set(range(1, len(residual.constants()) + 1))
    # Weights, int32 bias, multipliers and shifts of five layers, and no scale, zero point or float weight besides.
    layers = [(8 * 27, 8), (16 * 8, 16), (16 * 9, 16), (8 * 16, 8), (10 * 8, 10)]  # bytes of weights, channels
    sizes = [size for weight, channels in layers for size in (weight, 4 * channels, 4 * channels, 4 * channels)]
    aligned = [16 * -(-size // 16) for size in sizes]
    assert sum(map(len, residual.constants())) <= sum(aligned)


def test_the_program_keeps_no_unused_state(residual):
    names = {spec.target for spec in residual.edge.graph_signature.input_specs if spec.target}
    assert set(residual.edge.state_dict) == names
    assert all(node.users for node in residual.edge.graph.nodes if node.op == "placeholder")


def test_report_names_the_layer_of_each_instruction_of_the_file(residual):
    program = ReferenceProgram(residual.data)
    assert [i.op + ".out" for i in residual.report.instructions] == program.instruction_names()
    modules = [i.module for i in residual.report.instructions]
    assert modules[1:5] == ["stem.0", "expand.0", "depthwise.0", "project.0"]
    assert modules[7] == "classifier.1"
    assert all("network_test.py:" in i.source for i in residual.report.instructions[1:8])
    as_json = residual.report.to_json()
    assert as_json["op_counts"]["cortex_m::quantized_conv2d_nhwc"] == 3
    assert as_json["instructions"][1]["shape"] == (1, 8, 8, 8)
    assert "Every op was lowered." in str(residual.report)


def test_channels_last_inputs_give_the_same_outputs(residual):
    x = image(1, 3, 16, 16)
    quantized = quantize(seeded(Residual), x)
    other = lower_exported(export(quantized, (x.to(memory_format=torch.channels_last),)))
    assert other.ops == RESIDUAL_OPS
    assert torch.equal(other.run(x)[0], residual.run(x)[0])


def test_batches():
    x = image(3, 3, 16, 16)
    lowered = quantize_and_lower(seeded(Residual), x)
    assert lowered.ops == RESIDUAL_OPS
    close(lowered, x, steps=3)
    outputs = lowered.run(x)[0]
    swapped = lowered.run(x.flip(0))[0]
    assert torch.equal(outputs, swapped.flip(0))


def test_exports_are_deterministic(residual):
    again = quantize_and_lower(seeded(Residual), image(1, 3, 16, 16))
    assert again.data == residual.data


class Flattened(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order
        self.conv = nn.Conv2d(3, 4, 3)
        self.linear = nn.Linear(4 * 4 * 6, 5)

    def forward(self, x):
        return self.linear(torch.flatten(torch.relu(self.conv(x)).permute(self.order), 1))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 2, 1), (0, 2, 3, 1), (0, 3, 1, 2)])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_flattening_an_image_for_a_linear_layer_copies_nothing(memory_format, order):
    x = image(2, 3, 6, 8)
    quantized = quantize(seeded(lambda: Flattened(order)), x)
    x = x.to(memory_format=memory_format)
    lowered = lower_exported(export(quantized, (x,)))
    assert lowered.ops == [
        "quantize_to_nhwc", "quantized_conv2d_nhwc", "quantized_linear_per_channel", "dequantize_per_tensor",
    ]  # fmt: skip
    close(lowered, x, steps=2)


class Images(nn.Module):
    """An image comes out, and a second one that only the first layer makes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.second(y), y


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_outputs_keep_shape_and_memory_order(memory_format):
    x = image(1, 3, 5, 7)
    quantized = quantize(seeded(Images), x)
    x = x.to(memory_format=memory_format)
    lowered = lower_exported(export(quantized, (x,)), strict=True)
    assert ("_clone_dim_order" in lowered.ops) == (memory_format == torch.channels_last)
    for got, want in zip(lowered.run(x), lowered.reference(x), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        assert got.stride() == want.stride()
        assert float((got - want).abs().max()) < 0.05


class BothOrders(nn.Module):
    """A value that a convolution wants as NHWC and a linear layer over width wants as NCHW."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 3, 3, padding=1), nn.Linear(8, 8)

    def forward(self, x):
        y = self.conv(x)
        return self.linear(y) + y


def test_copies_remain_only_where_both_orders_are_wanted():
    x = image(1, 3, 6, 8)
    lowered = quantize_and_lower(seeded(BothOrders), x)
    assert lowered.ops.count("transpose") <= 2
    assert len(lowered.report.layout_copies) == lowered.ops.count("transpose")
    assert not lowered.report.refusals
    close(lowered, x, steps=2)


class Inputs(nn.Module):
    def forward(self, x, y):
        return x + y


def test_two_inputs():
    x, y = image(2, 3, 4, 5), image(2, 3, 4, 5, seed=1)
    lowered = quantize_and_lower(Inputs(), x, y)
    assert lowered.ops == ["quantize_per_tensor", "quantize_per_tensor", "quantized_add", "dequantize_per_tensor"]
    close(lowered, x, y, steps=1)


class ConstantOperand(nn.Module):
    """An int8 constant joins an image: its layout changes on the host."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.register_buffer("offset", image(1, 4, 4, 5, seed=2))

    def forward(self, x):
        return self.conv(x) + self.offset


def test_a_constant_operand_costs_no_instruction():
    x = image(1, 3, 4, 5)
    lowered = quantize_and_lower(seeded(ConstantOperand), x)
    assert lowered.ops == ["quantize_to_nhwc", "quantized_conv2d_nhwc", "quantized_add", "dequantize_from_nhwc"]
    close(lowered, x, steps=2)
