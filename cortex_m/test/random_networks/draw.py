"""Draws a network: step after step an operator that fits values there are, run at once to know its shape and range."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.test.random_networks.network import Network, Step

_LARGEST = 3000  # elements of a value
# Standard deviations that a value may have: outside of it int8 has nothing to say.
_LOW, _HIGH = 0.05, 8.0

Draw = tuple[str, str | None]  # the call, and the constructor of its layer
Choice = Callable[[random.Random, torch.Tensor], Draw]

_ACTIVATIONS = (
    "F.relu", "F.relu6", "F.hardswish", "F.hardsigmoid", "F.silu", "F.gelu", "F.elu", "F.mish", "F.softplus", "F.leaky_relu",
    "torch.tanh", "torch.sigmoid", "torch.abs", "torch.neg", "torch.sin",
)  # fmt: skip


def _activation(rng: random.Random, x: torch.Tensor) -> Draw:
    return f"{rng.choice(_ACTIVATIONS)}({{0}})", None


def _number(rng: random.Random, x: torch.Tensor) -> Draw:
    return rng.choice(
        ("{0} * 0.7", "{0} + 0.4", "0.6 - {0}", "{0} / 1.7", "torch.clamp({0}, -0.8, 1.1)", "{0} ** 2")
    ), None


def _convolution(rng: random.Random, x: torch.Tensor) -> Draw:
    dims = x.dim() - 2
    channels = x.shape[1]
    groups = rng.choice((1, 1, channels, 2 if channels % 2 == 0 else 1))
    out = groups * rng.randint(1, max(1, 12 // groups))

    def window(values: tuple[int, ...]) -> int | tuple[int, ...]:
        return rng.choice(values) if rng.random() < 0.6 else tuple(rng.choice(values) for _ in range(dims))

    options = f"{channels}, {out}, {window((1, 2, 3, 5))}, stride={window((1, 1, 2, 3))}, groups={groups}, bias={rng.random() < 0.7}"
    if rng.random() < 0.2:
        return "{layer}({0})", f"nn.ConvTranspose{dims}d({options}, padding={rng.choice((0, 1))})"
    return "{layer}({0})", f"nn.Conv{dims}d({options}, padding={window((0, 1, 2))}, dilation={rng.choice((1, 1, 2))})"


def _norm(rng: random.Random, x: torch.Tensor) -> Draw:
    if x.dim() == 2 or rng.random() < 0.15:
        return "{layer}({0})", f"nn.LayerNorm({x.shape[-1]})"
    return "{layer}({0})", f"nn.BatchNorm{x.dim() - 2}d({x.shape[1]})"


def _prelu(rng: random.Random, x: torch.Tensor) -> Draw:
    return "{layer}({0})", f"nn.PReLU({rng.choice((1, x.shape[1]))})"


def _pool(rng: random.Random, x: torch.Tensor) -> Draw:
    dims = x.dim() - 2
    kernel, stride = rng.choice((2, 3)), rng.choice((1, 2, 3))
    ceil = rng.random() < 0.3
    if rng.random() < 0.5:
        return f"F.max_pool{dims}d({{0}}, {kernel}, {stride}, padding={rng.choice((0, 1))}, ceil_mode={ceil})", None
    counted = rng.random() < 0.5
    return (
        f"F.avg_pool{dims}d({{0}}, {kernel}, {stride}, padding={rng.choice((0, 1))}, ceil_mode={ceil}, count_include_pad={counted})",
        None,
    )


def _adaptive(rng: random.Random, x: torch.Tensor) -> Draw:
    return f"F.adaptive_{rng.choice(('avg', 'max'))}_pool{x.dim() - 2}d({{0}}, {rng.choice((1, 2, 3))})", None


def _resize(rng: random.Random, x: torch.Tensor) -> Draw:
    factor = rng.choice((2, 2, 3, 1.5))
    mode = rng.choice(("nearest", "nearest", "bilinear"))
    return f"F.interpolate({{0}}, scale_factor={factor}, mode={mode!r})", None


def _linear(rng: random.Random, x: torch.Tensor) -> Draw:
    return "{layer}({0})", f"nn.Linear({x.shape[-1]}, {rng.randint(2, 12)}, bias={rng.random() < 0.7})"


def _mean(rng: random.Random, x: torch.Tensor) -> Draw:
    dims = sorted(rng.sample(range(1, x.dim()), rng.randint(1, x.dim() - 1)))
    return f"torch.mean({{0}}, {dims}, keepdim={rng.random() < 0.6})", None


def _softmax(rng: random.Random, x: torch.Tensor) -> Draw:
    return f"torch.softmax({{0}}, {rng.randint(1, x.dim() - 1)})", None


def _move(rng: random.Random, x: torch.Tensor) -> Draw:
    dim = rng.randint(1, x.dim() - 1)
    size = x.shape[dim]
    order = list(range(1, x.dim()))
    rng.shuffle(order)
    return rng.choice(
        (
            f"{{0}}.permute({[0, *order]})", f"{{0}}.transpose(1, {dim})", f"{{0}}.flatten({rng.choice((1, x.dim() - 2))})",
            f"{{0}}.narrow({dim}, {size // 3}, {size - size // 3})", f"{{0}}.flip([{dim}])", f"{{0}}.split({(size + 1) // 2}, {dim})[0]",
            f"{{0}}.chunk(2, {dim})[1]", f"{{0}}.select({dim}, {size - 1})", f"{{0}}.unsqueeze({dim})", "F.pad({0}, (1, 2))",
            "{0}[..., ::2]", f"{{0}}.reshape(1, -1, {x.shape[-1]})", f"{{0}}.repeat_interleave(2, {dim})", f"{{0}}.roll(1, {dim})",
        )
    ), None  # fmt: skip


def _two(rng: random.Random, x: torch.Tensor) -> Draw:
    call = rng.choice(
        ("{0} + {1}", "{0} - {1}", "{0} * {1}", "torch.maximum({0}, {1})", "torch.minimum({0}, {1})", "torch.cat([{0}, {1}], 1)",
         "torch.cat([{1}, {0}], -1)", "torch.matmul({0}, {1}.transpose(-1, -2))", "torch.matmul({0}, {1})", "torch.stack([{0}, {1}], 1)",
         "torch.cat([{0}, {1}, {0}], 1)", "{0} + F.relu({1})", "{0} * torch.sigmoid({1})")
    )  # fmt: skip
    return call, None


_ANY: tuple[Choice, ...] = (_activation, _activation, _number, _mean, _softmax, _move, _move, _two, _two, _two, _linear)
_BY_RANK: dict[int, tuple[Choice, ...]] = {
    2: (_linear, _linear, _norm),
    3: (_convolution, _convolution, _norm, _pool, _prelu, _adaptive),
    4: (_convolution, _convolution, _convolution, _convolution, _norm, _norm, _pool, _pool, _prelu, _adaptive, _resize),
}


def draw(seed: int) -> Network:
    """The network of a seed: 3 to 20 steps."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    channels = rng.choice((1, 2, 3, 4, 8))
    shape: tuple[int, ...] = rng.choice(
        ((1, channels, rng.randint(5, 12), rng.randint(5, 12)),) * 4
        + ((1, channels, rng.randint(6, 20)), (1, rng.randint(4, 16)))
    )
    channels_last = len(shape) == 4 and rng.random() < 0.25
    values = [torch.rand(shape) * 4 - 2]
    layers: list[str] = []
    modules: list[nn.Module] = []
    steps: list[Step] = []
    wanted = rng.randint(3, 20)
    for _ in range(60 * wanted):
        if len(steps) == wanted:
            break
        # Late values more often than early ones, so that networks are deep; early ones at times, so that they branch.
        first = max(rng.randrange(len(values)), rng.randrange(len(values))) if rng.random() < 0.7 else len(values) - 1
        second = rng.randrange(len(values))
        x = values[first]
        call, constructor = rng.choice(_ANY + _BY_RANK.get(x.dim(), ()))(rng, x)
        layer, module = None, None
        if constructor is not None:
            again = [index for index, made in enumerate(layers) if made.split("(")[0] == constructor.split("(")[0]]
            try:
                layer = rng.choice(again) if again and rng.random() < 0.3 else len(layers)  # shared, where it fits
                module = modules[layer] if layer < len(layers) else eval(constructor).eval()
            except (RuntimeError, ValueError):
                continue
        operands = (first, second) if "{1}" in call else (first,)
        step = Step(call, operands, layer)
        value = _run(step, [values[index] for index in operands], module)
        if value is None:
            continue
        if layer == len(layers) and module is not None and constructor is not None:
            layers.append(constructor)
            modules.append(module)
        steps.append(step)
        values.append(value)
    return Network(seed, shape, channels_last, tuple(layers), tuple(steps))


def _run(step: Step, operands: list[torch.Tensor], module: nn.Module | None) -> torch.Tensor | None:
    """The value; None if the operator does not take its operands, or gives nothing that is fit for int8."""
    names = [f"v{index}" for index in range(len(operands))]
    text = step.call.format(*names, layer="layer")
    try:
        with torch.no_grad():
            value = eval(text, {"torch": torch, "F": F, "layer": module, **dict(zip(names, operands))})
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
        return None
    usable = 4 <= value.numel() <= _LARGEST and 2 <= value.dim() <= 4
    return value if usable and _LOW < float(value.std()) < _HIGH else None
