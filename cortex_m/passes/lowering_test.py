"""Each lowering: its integers are exact, as `run` sees to, and at most one step from PyTorch's float computation."""

import pytest
import torch
from torch import nn

from cortex_m.passes.recipe import Lowered, lower, quantize_and_lower, round_trip

aten = torch.ops.aten
IMAGE = (1, 6, 9, 8)
IN, OUT = (0.021, 5), (0.033, -9)


def image(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*(shape or IMAGE), generator=torch.Generator().manual_seed(seed))


class Wrapped(nn.Module):
    """function(dequantized input), with quantization parameters before and after."""

    def __init__(self, function, before=IN, after=OUT):
        super().__init__()
        self.function, self.before, self.after = function, before, after

    def forward(self, x):
        return round_trip(self.function(round_trip(x, *self.before)), *self.after)


def check(
    lowered: Lowered, inputs: tuple, ops: list[str], steps: float = 1.0, scale: float = OUT[0], rails: float = 0.5
):
    """The program has exactly these ops between its quantize and dequantize, and its values are right.

    rails: the largest share of values that may lie at the lowest or the highest one.
    """
    assert [op for op in lowered.ops if "quantize_" not in op] == ops, lowered.report
    assert not lowered.report.refusals
    (got,), (want,) = lowered.run(*inputs), lowered.reference(*inputs)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert float((got - want).abs().max()) <= steps * scale * 1.001
    assert float((want == want.min()).float().mean() + (want == want.max()).float().mean()) < rails


CLAMPS = {
    "none": lambda y: y,
    "relu": torch.relu,
    "relu6": nn.functional.relu6,
    "hardtanh": lambda y: nn.functional.hardtanh(y, -0.7, 1.3),
    "clamp": lambda y: torch.clamp(y, -1.1, 0.9),
    "clamp_min": lambda y: torch.clamp(y, min=-0.45),
    "clamp_max": lambda y: torch.clamp(y, max=1.05),
    "two": lambda y: torch.clamp(torch.clamp(y, -0.9, 2.0), max=1.2),
}


@pytest.mark.parametrize("clamp", CLAMPS)
def test_clamps_disappear_into_add(clamp):
    def function(x):
        return CLAMPS[clamp](x + x)

    x = image()
    check(lower(Wrapped(function, after=(0.037, -21)), x), (x,), ["quantized_add"], scale=0.037, rails=0.7)


@pytest.mark.parametrize("clamp", [name for name in CLAMPS if name != "none"])
def test_a_clamp_on_its_own_is_one_requantization(clamp):
    x = image()
    check(lower(Wrapped(CLAMPS[clamp]), x), (x,), ["quantized_add"], rails=0.7)


def test_a_clamp_with_its_own_parameters_joins_the_layer_before_it():
    def function(x):
        return torch.relu(round_trip(x + x, *OUT))

    x = image()
    check(lower(Wrapped(function), x), (x,), ["quantized_add"], rails=0.7)


def test_a_clamp_does_not_change_a_value_that_others_read():
    class Fork(nn.Module):
        def forward(self, x):
            x = round_trip(x, *IN)
            y = round_trip(x + x, *OUT)
            return round_trip(torch.relu(y), *OUT), y

    x = image()
    lowered = lower(Fork(), x)
    for got, want in zip(lowered.run(x), lowered.reference(x)):
        assert float((got - want).abs().max()) <= OUT[0] * 1.001
    assert float(lowered.run(x)[1].min()) < 0


@pytest.mark.parametrize("alpha", [1, 2, 0.5, -1])
def test_add_honours_alpha(alpha):
    class Add(nn.Module):
        def forward(self, x, y):
            return round_trip(torch.add(round_trip(x, *IN), round_trip(y, 0.017, -3), alpha=alpha), 0.061, 4)

    x, y = image(), image(seed=1)
    check(lower(Add(), x, y), (x, y), ["quantized_add"], scale=0.061)


def test_add_of_operands_of_very_different_scales():
    class Add(nn.Module):
        def forward(self, x, y):
            return round_trip(round_trip(x, 0.02, 0) + round_trip(y, 0.02 * 2**-12, 0), 0.03, 0)

    x, y = image(), image(seed=1)
    check(lower(Add(), x, y), (x, y), ["quantized_add"], scale=0.03)


@pytest.mark.parametrize("parameters", [IN, (0.021, -8), (0.0413, 5), (0.0113, 2)])
def test_quantize_after_dequantize_is_nothing_or_one_requantization(parameters):
    x = 0.3 * image()
    lowered = lower(Wrapped(lambda y: y, after=parameters), x)
    check(lowered, (x,), [] if parameters == IN else ["quantized_add"], scale=parameters[0])


POOLS = {
    "plain": (lambda x: nn.functional.avg_pool2d(x, 2), ["quantized_avg_pool2d_nhwc"]),
    "stride": (lambda x: nn.functional.avg_pool2d(x, 3, (2, 1)), ["quantized_avg_pool2d_nhwc"]),
    "ceil": (lambda x: nn.functional.avg_pool2d(x, 2, 2, ceil_mode=True), ["quantized_avg_pool2d_nhwc"]),
    "padding, not counted": (
        lambda x: nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        ["quantized_avg_pool2d_nhwc"],
    ),
    "padding, counted": (lambda x: nn.functional.avg_pool2d(x, 3, 2, 1), ["pad", "quantized_avg_pool2d_nhwc"]),
    "padding, counted, ceil": (
        lambda x: nn.functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        ["pad", "quantized_avg_pool2d_nhwc"],
    ),
    "divisor": (
        lambda x: nn.functional.avg_pool2d(x, 2, divisor_override=3),
        ["quantized_depthwise_conv2d_nhwc"],
    ),
    "global": (lambda x: nn.functional.adaptive_avg_pool2d(x, 1), ["quantized_avg_pool2d_nhwc"]),
    "adaptive": (lambda x: nn.functional.adaptive_avg_pool2d(x, (3, 4)), ["quantized_avg_pool2d_nhwc"]),
    "mean": (lambda x: x.mean((2, 3)), ["quantized_avg_pool2d_nhwc"]),
    "mean of rows, kept": (lambda x: x.mean(2, keepdim=True), ["quantized_avg_pool2d_nhwc"]),
    "mean of columns": (lambda x: x.mean(-1), ["quantized_avg_pool2d_nhwc"]),
}


@pytest.mark.parametrize("name", POOLS)
def test_means_with_shared_parameters(name):
    function, ops = POOLS[name]
    x = image(2, *IMAGE[1:])
    lowered = lower(Wrapped(function, after=IN), x)
    assert [op for op in lowered.ops if "quantize_" not in op and op != "transpose"] == ops, lowered.report
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert got.shape == want.shape
    assert float((got - want).abs().max()) <= IN[0] * 1.001


@pytest.mark.parametrize("function", [lambda x: x.mean((2, 3)), lambda x: nn.functional.avg_pool2d(x, 3, 2, 1)])
def test_a_mean_with_parameters_of_its_own_rounds_once(function):
    """A finer output scale keeps bits that a pool in the input's scale would drop."""
    x = image()
    lowered = lower(Wrapped(function, after=(IN[0] / 7, 3)), x)
    assert [op for op in lowered.ops if "conv2d" in op] == ["quantized_depthwise_conv2d_nhwc"]
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert float((got - want).abs().max()) <= IN[0] / 7 * 1.001


@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1])
def test_softmax(dim):
    x = 2 * image(2, 5, 3, 4)
    lowered = lower(Wrapped(lambda y: torch.softmax(y, dim), before=(0.04, 1), after=(1 / 256, -128)), x)
    assert "softmax" in lowered.ops and not lowered.report.refusals
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    assert float((got - want).abs().max()) <= 1.001 / 256


def test_softmax_with_other_output_parameters_is_requantized():
    x = 2 * image(4, 10)
    check(
        lower(Wrapped(lambda y: torch.softmax(y, 1), before=(0.04, 1), after=(0.0051, -120)), x),
        (x,), ["softmax", "quantized_add"], scale=0.0051, steps=1.5,
    )  # fmt: skip


@pytest.mark.parametrize("value", [0.0, 0.4, -7.0])
def test_pad_with_any_value(value):
    x = image(1, 3, 7, 9)
    check(lower(Wrapped(lambda y: nn.functional.pad(y, (1, 2, 0, 3), value=value), after=IN), x), (x,), ["pad"])


MOVES = {
    "flatten": lambda x: torch.flatten(x, 1),
    "view": lambda x: x.reshape(3, 2, -1),
    "squeeze": lambda x: x.squeeze(0),
    "unsqueeze": lambda x: x[0].unsqueeze(-1),
    "permute": lambda x: x.permute(0, 3, 1, 2).contiguous(),
    "transpose": lambda x: x.transpose(1, 2).contiguous(),
    "clone": lambda x: x.clone(),
    "dropout": lambda x: nn.functional.dropout(x, training=False),
}


@pytest.mark.parametrize("name", MOVES)
def test_moving_data_needs_no_float(name):
    x = image(1, 6, 2, 3)
    lowered = lower(Wrapped(MOVES[name], after=IN), x)
    if name != "unsqueeze":  # select is not lowered yet
        assert not lowered.report.refusals
        assert [op for op in lowered.ops if "quantize_" not in op] in ([], ["transpose"]), lowered.ops
    assert torch.equal(lowered.run(x)[0], lowered.reference(x)[0])


def test_moves_without_quantization_of_their_own_run_on_int8():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(12, 4)

        def forward(self, x):
            return self.linear(torch.flatten(nn.functional.pad(x, (1, 1)), 1))

    x = image(2, 3, 2)
    lowered = quantize_and_lower(Net(), x)
    assert not lowered.report.refusals
    assert lowered.ops[0] == "quantize_per_tensor" and lowered.ops[-1] == "dequantize_per_tensor"


CONVOLUTIONS = {
    "3x3": dict(in_channels=6, out_channels=10, kernel_size=3, padding=1),
    "no bias": dict(in_channels=6, out_channels=10, kernel_size=3, bias=False),
    "stride, dilation, uneven": dict(
        in_channels=6, out_channels=5, kernel_size=(3, 2), stride=(2, 1), padding=(2, 0), dilation=(1, 2)
    ),
    "1x1": dict(in_channels=6, out_channels=12, kernel_size=1),
    "grouped": dict(in_channels=6, out_channels=9, kernel_size=3, groups=3),
    "grouped, no bias": dict(in_channels=6, out_channels=4, kernel_size=3, groups=2, bias=False),
    "depthwise": dict(in_channels=6, out_channels=6, kernel_size=3, groups=6, padding=1),
    "depthwise, multiplier, no bias": dict(in_channels=6, out_channels=18, kernel_size=3, groups=6, bias=False),
    "same": dict(in_channels=6, out_channels=7, kernel_size=3, padding="same"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    torch.manual_seed(1)
    x = image(2, *IMAGE[1:])
    lowered = quantize_and_lower(nn.Conv2d(**CONVOLUTIONS[name]), x)
    op = "quantized_depthwise_conv2d_nhwc" if "depthwise" in name else "quantized_conv2d_nhwc"
    assert lowered.ops == ["quantize_to_nhwc", op, "dequantize_from_nhwc"], lowered.report
    _within_steps(lowered, x, steps=1)


@pytest.mark.parametrize("activation", [nn.ReLU(), nn.ReLU6(), nn.Hardtanh(-0.2, 0.3)])
@pytest.mark.parametrize(
    ("layer", "shape"), [(nn.Conv2d(6, 8, 3), IMAGE), (nn.Conv2d(6, 6, 3, groups=6), IMAGE), (nn.Linear(8, 5), (3, 8))]
)
def test_activations_disappear_into_layers(layer, shape, activation):
    torch.manual_seed(2)
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -0.5, 0.5)
    x = image(*shape)
    lowered = quantize_and_lower(nn.Sequential(layer, activation), x)
    assert len(lowered.ops) == 3 and not lowered.report.refusals, lowered.report
    _within_steps(lowered, x, steps=1)


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7), (1, 2, 3, 7)])
def test_linear_of_any_rank(shape):
    torch.manual_seed(3)
    x = image(*shape)
    lowered = quantize_and_lower(nn.Linear(7, 9), x)
    assert [op for op in lowered.ops if "linear" in op] and not lowered.report.refusals, lowered.report
    _within_steps(lowered, x, steps=1)


def test_linear_with_one_scale_for_all_weights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randint(-127, 128, (4, 9), dtype=torch.int8))

        def forward(self, x):
            weight = torch.ops.quantized_decomposed.dequantize_per_tensor(self.weight, 0.004, 0, -127, 127, torch.int8)
            return round_trip(
                nn.functional.linear(round_trip(x, *IN), weight, torch.tensor([0.1, -0.2, 0.3, 0.0])), *OUT
            )

    torch.manual_seed(4)
    x = image(5, 9)
    check(lower(Net(), x), (x,), ["quantized_linear"])


def test_a_float_bias_is_rounded_to_nearest_halves_to_even():
    """The output is the stored bias: its scale is the bias's, and there are no weights."""
    units = [10.4, 10.6, 10.5, 11.5, -10.4, -10.6, -10.5, -11.5]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.zeros(8, 3, dtype=torch.int8))

        def forward(self, x):
            weight = torch.ops.quantized_decomposed.dequantize_per_tensor(self.weight, 0.5, 0, -127, 127, torch.int8)
            bias = torch.tensor([unit / 8 for unit in units])  # 10.5 / 8 is a float32 number
            return round_trip(nn.functional.linear(round_trip(x, 0.25, 3), weight, bias), 0.125, 0)

    (got,) = lower(Net(), image(1, 3)).run(image(1, 3))
    assert (8 * got).flatten().tolist() == [10, 11, 10, 12, -10, -11, -10, -12]


def _within_steps(lowered: Lowered, x: torch.Tensor, steps: int) -> None:
    """Steps of the output's scale, read from the program's last instruction."""
    (got,), (want,) = lowered.run(x), lowered.reference(x)
    last = [node for node in lowered.edge.graph.nodes if "dequantize" in str(node.target)][-1]
    assert got.shape == want.shape
    assert float((got - want).abs().max()) <= steps * last.args[1] * 1.001
    assert got.unique().numel() > 4
