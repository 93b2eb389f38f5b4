"""Elementwise arithmetic and tables through the whole recipe: which operators it becomes, and how close it comes to float."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.passes.recipe import Lowered, lower, quantize_and_lower, round_trip

IN, OUT = (0.021, 5), (0.033, -9)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Wrapped(nn.Module):
    """function(dequantized inputs), with quantization parameters before and after."""

    def __init__(self, function, *before, after=OUT):
        super().__init__()
        self.function, self.before, self.after = function, before, after

    def forward(self, *xs):
        return round_trip(self.function(*(round_trip(x, *p) for x, p in zip(xs, self.before))), *self.after)


class Lambda(nn.Module):
    def __init__(self, function, *modules, **buffers):
        super().__init__()
        self.function, self.layers = function, nn.ModuleList(modules)
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *xs):
        return self.function(self, *xs)


def computed(lowered: Lowered) -> list[str]:
    return [op for op in lowered.ops if "quantize_" not in op]


def check(lowered: Lowered, inputs: tuple, ops: list[str], steps: float = 1.0, scale: float = OUT[0]):
    assert computed(lowered) == ops, lowered.report
    assert not lowered.report.refusals
    (got,), (want,) = lowered.run(*inputs), lowered.reference(*inputs)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert float((got - want).abs().max()) <= steps * scale * 1.001
    assert float((want == want.min()).float().mean() + (want == want.max()).float().mean()) < 0.5


# Arithmetic


def test_alpha_is_part_of_the_scale():
    alphas = [1, 3, 0.25, -1.5, 0]

    def forward(m, x, y):
        x, y = round_trip(x, *IN), round_trip(y, 0.017, -3)
        sums = [function(x, y, alpha=alpha) for function in (torch.add, torch.sub) for alpha in alphas]
        return tuple(round_trip(total, 0.061, 4) for total in sums)

    x, y = randn(2, 40), randn(2, 40, seed=1)
    lowered = lower(Lambda(forward), x, y)
    assert computed(lowered) == ["quantized_add"] * 10
    for got, want in zip(lowered.run(x, y), lowered.reference(x, y), strict=True):
        assert float((got - want).abs().max()) <= 0.0611


BINARY = {
    "mul": (torch.mul, "quantized_mul", (0.04, -9)),
    "div": (lambda x, y: x / y, "quantized_div", (0.2, 3)),
    "square": (lambda x, y: x * x, "quantized_mul", (0.03, -100)),
}


@pytest.mark.parametrize("name", BINARY)
def test_products_and_quotients(name):
    function, op, after = BINARY[name]
    x, y = randn(2, 40), 1.1 + 0.3 * randn(2, 40, seed=1)
    check(lower(Wrapped(function, IN, (0.017, -100), after=after), x, y), (x, y), [op], scale=after[0])


@pytest.mark.parametrize("name", ["mul", "div"])
def test_a_clamp_within_the_range_of_the_output_is_a_table(name):
    function, op, after = BINARY[name]
    x, y = randn(2, 40), 1.1 + 0.3 * randn(2, 40, seed=1)
    model = Wrapped(lambda x, y: torch.clamp(function(x, y), -0.9, 1.3), IN, (0.017, -100), after=after)
    lowered = lower(model, x, y)
    check(lowered, (x, y), [op, "quantized_activation"], scale=after[0])
    assert float(lowered.run(x, y)[0].min()) >= -0.9 - after[0] / 2


def test_a_clamp_that_the_range_of_the_output_is_costs_nothing():
    x, y = randn(2, 40), randn(2, 40, seed=1)
    lowered = quantize_and_lower(Lambda(lambda m, x, y: F.relu(x * y)), x, y)
    assert computed(lowered) == ["quantized_mul"]
    assert float(lowered.run(x, y)[0].min()) == 0.0


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_extrema_share_one_scale_with_their_operands(name):
    model = Lambda(
        lambda m, x, y: getattr(torch, name)(m.layers[0](x), m.layers[1](y)), nn.Linear(6, 8), nn.Linear(6, 8)
    )
    x, y = randn(9, 6), randn(9, 6, seed=1)
    lowered = quantize_and_lower(model, x, y)
    assert computed(lowered) == ["quantized_linear_per_channel"] * 2 + [name]
    assert float((lowered.run(x, y)[0] - model(x, y)).abs().max()) < 0.06


def test_extrema_of_operands_with_other_scales_are_requantized():
    x, y = randn(2, 40), randn(2, 40, seed=1)
    lowered = lower(Wrapped(torch.maximum, IN, (0.017, -3)), x, y)
    check(lowered, (x, y), ["quantized_add", "quantized_add", "maximum"])


def test_a_sum_too_fine_for_int32_is_refused():
    lowered = lower(Wrapped(torch.sub, (1.0, 0), (1.0, 0), after=(1e-8, 0)), randn(2, 3), randn(2, 3, seed=1))
    assert "leaves int32" in str(lowered.report.refusals[0].reason)


# Broadcasting and layout

SHAPES = [((2, 3), (3,)), ((4, 1), (1, 5)), ((2, 3, 4, 5), (3, 1, 1)), ((1,), (2, 3)), ((2, 1, 2, 1, 3), (4, 1, 2, 1))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_operands_of_any_shapes_that_broadcast(shapes):
    functions = {
        torch.add: (0.05, 3),
        torch.sub: (0.05, 3),
        torch.mul: (0.04, -2),
        torch.maximum: IN,
        torch.minimum: IN,
    }

    def forward(m, x, y):
        x, y = round_trip(x, *IN), round_trip(y, *IN)
        return tuple(round_trip(function(x, y), *after) for function, after in functions.items())

    x, y = randn(*shapes[0]), randn(*shapes[1], seed=1)
    lowered = lower(Lambda(forward), x, y)
    assert computed(lowered) == ["quantized_add"] * 2 + ["quantized_mul", "maximum", "minimum"]
    assert not lowered.report.refusals
    for got, want, after in zip(lowered.run(x, y), lowered.reference(x, y), functions.values()):
        assert got.shape == want.shape and float((got - want).abs().max()) <= after[0] * 1.001


def conv(channels: int = 6) -> nn.Module:
    return nn.Conv2d(channels, channels, 3, padding=1)


OPERANDS = {
    "value for each channel": (6, 1, 1),
    "the same of rank 4": (1, 6, 1, 1),
    "a plane": (5, 4),
    "a row": (4,),
    "one value": (1,),
    "a whole image": (1, 6, 5, 4),
}


@pytest.mark.parametrize("kind", OPERANDS)
def test_constant_operands_cost_no_copy_between_convolutions(kind):
    model = Lambda(lambda m, x: m.layers[1](m.layers[0](x) * m.k + m.k), conv(), conv(), k=randn(*OPERANDS[kind]) + 1)
    x = randn(1, 6, 5, 4)
    lowered = quantize_and_lower(model, x, calibration=[(x,), (randn(1, 6, 5, 4, seed=2),)])
    between = ["quantized_activation"] if kind == "one value" else ["quantized_mul", "quantized_add"]
    assert computed(lowered) == ["quantized_conv2d_nhwc", *between, "quantized_conv2d_nhwc"]
    assert not lowered.report.layout_copies
    assert float((lowered.run(x)[0] - model(x)).abs().max()) < 0.15


def test_squeeze_and_excitation_costs_no_copy():
    def block(m, x):
        y = m.layers[0](x)
        return m.layers[3](y * torch.sigmoid(m.layers[2](F.relu(m.layers[1](F.adaptive_avg_pool2d(y, 1))))))

    model = Lambda(block, conv(8), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1), conv(8))
    x = randn(1, 8, 6, 5)
    lowered = quantize_and_lower(model, x)
    assert not lowered.report.layout_copies and not lowered.report.refusals
    assert "quantized_mul" in lowered.ops and "quantized_activation" in lowered.ops


# A slope for each channel

SLOPES = torch.tensor([0.25, -0.5, 0.0, 1.5, 1.0, 0.01])
TURNED = ["transpose", "quantized_prelu", "transpose"]
SHAPES_OF_PRELU = {(7, 6): None, (2, 6, 3, 4): None, (2, 6, 9): TURNED, (2, 6, 3, 2, 2): TURNED, (3, 6, 1, 1): None}


@pytest.mark.parametrize("shape", SHAPES_OF_PRELU, ids=str)
def test_prelu_of_any_rank(shape):
    x = randn(*shape)
    lowered = lower(Wrapped(lambda y: F.prelu(y, SLOPES), IN), x)
    check(lowered, (x,), SHAPES_OF_PRELU[shape] or ["quantized_prelu"])


def test_bounds_of_a_prelu_are_a_table():
    x = randn(7, 6)
    model = Wrapped(lambda y: F.prelu(y, SLOPES).clamp(-0.4, 1.3), IN)
    check(lower(model, x), (x,), ["quantized_prelu", "quantized_activation"])


def prelu() -> nn.Module:
    layer = nn.PReLU(6)
    layer.weight.data.copy_(SLOPES)
    return layer


def test_prelu_after_layers_costs_no_copy():
    def network(m, x):
        first, act1, second, act2, third, act3 = m.layers
        y = act2(second(act1(first(x))))
        return act3(third(y.permute(0, 3, 2, 1).flatten(1)))

    model = Lambda(network, conv(), prelu(), conv(), prelu(), nn.Linear(6 * 5 * 4, 6), prelu())
    x = randn(1, 6, 5, 4)
    lowered = quantize_and_lower(model, x, calibration=[(x,), (randn(1, 6, 5, 4, seed=2),)], strict=True)
    layers = ["quantized_conv2d_nhwc", "quantized_conv2d_nhwc", "quantized_linear_per_channel"]
    assert computed(lowered) == [op for layer in layers for op in (layer, "quantized_prelu")]
    assert not lowered.report.layout_copies
    assert float((lowered.run(x)[0] - model(x).detach()).abs().max()) < 0.05


def test_prelu_between_convolutions_over_one_dimension_turns_nothing():
    model = nn.Sequential(nn.Conv1d(6, 6, 3), prelu(), nn.Conv1d(6, 6, 3))
    lowered = quantize_and_lower(model, randn(1, 6, 9), strict=True)
    between = ["quantized_conv2d_nhwc", "quantized_prelu", "quantized_conv2d_nhwc"]
    assert computed(lowered) == ["transpose", *between, "transpose"]


def test_a_sum_before_a_prelu_is_nhwc_already():
    x, y = randn(2, 6, 3, 4), randn(2, 6, 3, 4, seed=1)
    model = Lambda(lambda m, x, y: F.prelu(x + y, SLOPES))
    lowered = quantize_and_lower(model, x, y, strict=True)
    assert computed(lowered) == ["quantized_add", "quantized_prelu"] and not lowered.report.layout_copies


def test_prelu_that_stays_float_has_kernels():
    x = randn(2, 6, 3)
    lowered = lower(Lambda(lambda m, x: F.prelu(x, SLOPES)), x)
    assert lowered.ops == ["mul", "gt", "where"]
    assert torch.equal(lowered.run(x)[0], F.prelu(x, SLOPES))


def test_a_table_before_the_first_convolution_costs_no_copy():
    model = Lambda(lambda m, x: m.layers[0](x * 2 - 1), conv())
    x = randn(1, 6, 5, 4)
    lowered = quantize_and_lower(model, x)
    assert computed(lowered) == ["quantized_activation", "quantized_conv2d_nhwc"]
    assert lowered.ops[0] == "quantize_to_nhwc"


# Tables: name -> (the function as a model writes it, the same of one float by the formula)


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def gelu(v):
    return v * (1 + math.erf(v / math.sqrt(2))) / 2


def gelu_tanh(v):
    return v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) / 2


def elu(v, alpha=1.0):
    return v if v > 0 else alpha * math.expm1(v)


def softplus(v):
    return math.log1p(math.exp(v))


ONE = torch.tensor([0.7])
TABLES = {
    "sigmoid": (torch.sigmoid, sigmoid),
    "tanh": (torch.tanh, math.tanh),
    "silu": (F.silu, lambda v: v * sigmoid(v)),
    "silu by hand": (lambda y: y * torch.sigmoid(y), lambda v: v * sigmoid(v)),
    "gelu": (F.gelu, gelu),
    "gelu tanh": (lambda y: F.gelu(y, approximate="tanh"), gelu_tanh),
    "exp": (torch.exp, math.exp),
    "expm1": (torch.expm1, math.expm1),
    "exp2": (torch.exp2, lambda v: 2**v),
    "square": (torch.square, lambda v: v * v),
    "cube": (lambda y: y**3, lambda v: v**3),
    "power of two": (lambda y: 2**y, lambda v: 2**v),
    "hardswish": (F.hardswish, lambda v: v * min(max(v + 3, 0), 6) / 6),
    "hardswish by hand": (lambda y: y * F.relu6(y + 3) / 6, lambda v: v * min(max(v + 3, 0), 6) / 6),
    "hardsigmoid": (F.hardsigmoid, lambda v: min(max(v + 3, 0), 6) / 6),
    "leaky_relu": (lambda y: F.leaky_relu(y, 0.2), lambda v: v if v > 0 else 0.2 * v),
    "elu": (lambda y: F.elu(y, 0.7), lambda v: elu(v, 0.7)),
    "selu": (F.selu, lambda v: 1.0507009873554805 * elu(v, 1.6732632423543772)),
    "celu": (lambda y: F.celu(y, 1.5), lambda v: max(v, 0) + min(0, 1.5 * math.expm1(v / 1.5))),
    "softplus": (F.softplus, softplus),
    "softsign": (F.softsign, lambda v: v / (1 + abs(v))),
    "mish": (F.mish, lambda v: v * math.tanh(softplus(v))),
    "logsigmoid": (F.logsigmoid, lambda v: math.log(sigmoid(v))),
    "tanhshrink": (F.tanhshrink, lambda v: v - math.tanh(v)),
    "hardshrink": (lambda y: F.hardshrink(y, 0.3), lambda v: v if abs(v) > 0.3 else 0.0),
    "softshrink": (lambda y: F.softshrink(y, 0.3), lambda v: math.copysign(max(abs(v) - 0.3, 0), v)),
    "threshold": (lambda y: F.threshold(y, 0.1, -0.4), lambda v: v if v > 0.1 else -0.4),
    "prelu": (lambda y: F.prelu(y, torch.tensor([0.15])), lambda v: v if v > 0 else 0.15 * v),
    "abs": (torch.abs, abs),
    "neg": (torch.neg, lambda v: -v),
    "sign": (torch.sign, lambda v: (v > 0) - (v < 0)),
    "floor": (torch.floor, math.floor),
    "ceil": (torch.ceil, math.ceil),
    "round": (torch.round, round),
    "sin": (torch.sin, math.sin),
    "cos": (torch.cos, math.cos),
    "erf": (torch.erf, math.erf),
    "where": (lambda y: torch.where(y > 0, y, 0.1 * y), lambda v: v if v > 0 else 0.1 * v),
    "a number more": (lambda y: y + 1.5, lambda v: v + 1.5),
    "alpha": (lambda y: torch.add(y, 2.0, alpha=3), lambda v: v + 6),
    "from a number": (lambda y: 1 - y, lambda v: 1 - v),
    "rsub": (lambda y: torch.rsub(y, 2.0, alpha=0.5), lambda v: 2 - v / 2),
    "times": (lambda y: y * -0.7, lambda v: -0.7 * v),
    "over": (lambda y: y / 3, lambda v: v / 3),
    "floor over": (lambda y: torch.div(y, 0.4, rounding_mode="floor"), lambda v: math.floor(v / 0.4)),
    "at most": (lambda y: torch.minimum(y, ONE), lambda v: min(v, 0.7)),
    "a chain": (lambda y: torch.tanh(2 * y - 1).abs(), lambda v: abs(math.tanh(2 * v - 1))),
    "in place": (lambda y: (y + 0).mul_(2).sigmoid_(), lambda v: sigmoid(2 * v)),
}
POSITIVE = {
    "log": (torch.log, math.log),
    "log2": (torch.log2, math.log2),
    "log10": (torch.log10, math.log10),
    "log1p": (torch.log1p, math.log1p),
    "sqrt": (torch.sqrt, math.sqrt),
    "rsqrt": (torch.rsqrt, lambda v: v**-0.5),
    "reciprocal": (torch.reciprocal, lambda v: 1 / v),
    "a number over": (lambda y: 2 / y, lambda v: 2 / v),
    "power": (lambda y: y**1.7, lambda v: v**1.7),
    "logit": (torch.logit, lambda v: math.log(v / (1 - v))),
}


@pytest.mark.parametrize("positive", [False, True])
def test_a_function_of_one_tensor_is_one_table(positive):
    """All of them in one program: a look-up each, and every result the formula's nearest stored value."""
    functions = POSITIVE if positive else TABLES
    x = 0.1 + 0.8 * torch.rand(16, 16, generator=torch.Generator().manual_seed(1)) if positive else 1.5 * randn(16, 16)
    lowered = quantize_and_lower(Lambda(lambda m, x: tuple(function(x) for function, _ in functions.values())), x)
    assert lowered.ops.count("quantized_activation") == len(functions), lowered.report
    assert set(computed(lowered)) == {"quantized_activation"} and not lowered.report.refusals
    (quantize,) = [node for node in lowered.edge.graph.nodes if ".quantize_per_tensor" in str(node.target)]
    si, zi = quantize.args[1:3]
    outputs = lowered.edge.graph.output_node().args[0]
    for name, node, got in zip(functions, outputs, lowered.run(x), strict=True):
        so, zo, low, high = node.args[1:5]
        for value, result in zip(x.flatten().tolist(), got.flatten().tolist()):
            stored = min(max(round(value / si) + zi, -128), 127)
            exact = min(max(functions[name][1]((stored - zi) * si), (low - zo) * so), (high - zo) * so)
            assert abs(result - exact) <= so * 0.501, (name, value, result, exact)


def test_a_table_follows_any_layer_and_an_activation_stays_with_its_layer():
    model = Lambda(lambda m, x: torch.sigmoid(F.relu(m.layers[0](x))), nn.Linear(6, 8))
    lowered = quantize_and_lower(model, randn(9, 6))
    assert computed(lowered) == ["quantized_linear_per_channel", "quantized_activation"]


def test_a_value_that_others_read_ends_its_table():
    def fork(m, x):
        y = torch.tanh(x * 2)
        return torch.sigmoid(y) + 1, y

    x = randn(8, 9)
    lowered = quantize_and_lower(Lambda(fork), x)
    assert computed(lowered) == ["quantized_activation", "quantized_activation"]
    for got, want in zip(lowered.run(x), fork(None, x)):
        assert float((got - want).abs().max()) < 0.02


CONSTANTS = {
    "scalar_tensor": lambda: torch.scalar_tensor(1.5),
    "full": lambda: torch.full((), 1.5),
    "full of one": lambda: torch.full((1,), 1.5),
}


@pytest.mark.parametrize("first", [True, False], ids=["first operand", "second operand"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_that_forward_makes_is_no_variable_of_a_table(name, first):
    """Quantized as an operand of a sum, it looks like the int8 tensor that the table is a function of."""

    def forward(m, x):
        return CONSTANTS[name]() * x if first else x - CONSTANTS[name]()

    x = randn(4, 12)
    (got,), want = quantize_and_lower(Lambda(forward), x).run(x), (1.5 * x if first else x - 1.5)
    assert float((got - want).abs().max()) < 0.02 * float(want.abs().max())


def test_outside_the_domain_the_nearest_value_inside_counts():
    """log of -128..127 steps of 1/16 around 0: -inf at 0 goes to the rail, what is below takes its entry."""
    lowered = lower(Wrapped(torch.log, (1 / 16, 0), after=(0.05, 0)), torch.arange(-128, 128) / 16)
    got = lowered.run(torch.arange(-128, 128) / 16)[0]
    assert got[:129].unique().tolist() == [pytest.approx(-128 * 0.05)]
    assert float(got[128 + 16]) == 0.0 and float(got[129]) == pytest.approx(round(math.log(1 / 16) / 0.05) * 0.05)


def test_ties_of_a_table_go_away_from_zero():
    """Half of each stored value, at the same scale: every other one is a tie."""
    x = torch.arange(-128, 128) / 16
    (got,) = lower(Wrapped(lambda y: y * 0.5, (1 / 16, 0), after=(1 / 16, 0)), x).run(x)
    assert (16 * got).tolist() == [math.copysign((abs(q) + 1) // 2, q) for q in range(-128, 128)]


def test_a_function_that_is_nowhere_defined_is_refused():
    lowered = lower(Wrapped(lambda x: torch.sqrt(x - 100), IN), randn(2, 3))
    assert any("no value for any value of its input" in refusal.reason for refusal in lowered.report.refusals)


def test_a_function_of_two_tensors_is_refused():
    lowered = lower(Wrapped(torch.atan2, IN, IN), randn(2, 3), randn(2, 3))
    assert any("function of more than one tensor" in refusal.reason for refusal in lowered.report.refusals)
