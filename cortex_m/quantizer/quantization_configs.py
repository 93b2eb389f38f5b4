"""How tensors are quantized: the specifications that the pattern table hands to PT2E.

    activations   int8, affine, one scale and zero point a tensor
    weights       int8, symmetric in [-127, 127], one scale an output channel (or one a tensor)
    bias          int32, zero point 0, scale = input scale * weight scale of the channel
    int16         activations symmetric in [-32767, 32767]; only what the pattern table says takes it
    softmax       output fixed at scale 1/256, zero point -128: the interval [0, 1) in 256 steps

`x_real = scale * (x_int8 - zero_point)` throughout.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch.fx import Node
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationSpec,
    QuantizationSpecBase,
)

from cortex_m.quantizer.fake_quantize import FakeQuantize, PerChannelFakeQuantize
from cortex_m.quantizer.observers import (
    ActivationObserver,
    InputRecorder,
    MaskedObserver,
    PerChannelWeightObserver,
)

if TYPE_CHECKING:
    from cortex_m.quantizer.tuning.tuner import Tuner

INT8_MIN, INT8_MAX = -128, 127

_own_axes = itertools.count()

# Keeps every product of a rescaled weight representable with either sign.
WEIGHT_MIN, WEIGHT_MAX = -127, 127

# PyTorch's quantize op clamps in float32, where 2^31 - 1 would round up to 2^31 and wrap.
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 128

# Symmetric: int16 tensors have zero point 0.
INT16_MIN, INT16_MAX = -32767, 32767

CMSIS_SOFTMAX_SCALE = 1.0 / 256.0
CMSIS_SOFTMAX_ZERO_POINT = -128


INT8_ACTIVATION_PER_TENSOR_QSPEC = QuantizationSpec(
    dtype=torch.int8,
    observer_or_fake_quant_ctr=ActivationObserver,
    quant_min=INT8_MIN,
    quant_max=INT8_MAX,
    qscheme=torch.per_tensor_affine,
)
INT8_ACTIVATION_PER_CHANNEL_QSPEC = QuantizationSpec(
    dtype=torch.int8,
    observer_or_fake_quant_ctr=PerChannelMinMaxObserver,
    quant_min=INT8_MIN,
    quant_max=INT8_MAX,
    qscheme=torch.per_channel_affine,
    ch_axis=0,
)

INT8_WEIGHT_PER_TENSOR_QSPEC = QuantizationSpec(
    dtype=torch.int8,
    observer_or_fake_quant_ctr=MinMaxObserver,
    quant_min=WEIGHT_MIN,
    quant_max=WEIGHT_MAX,
    qscheme=torch.per_tensor_symmetric,
)
INT8_WEIGHT_PER_CHANNEL_QSPEC = QuantizationSpec(
    dtype=torch.int8,
    observer_or_fake_quant_ctr=PerChannelWeightObserver,
    quant_min=WEIGHT_MIN,
    quant_max=WEIGHT_MAX,
    qscheme=torch.per_channel_symmetric,
    ch_axis=0,
)

SOFTMAX_OUTPUT_FIXED_QSPEC = FixedQParamsQuantizationSpec(
    dtype=torch.int8,
    scale=CMSIS_SOFTMAX_SCALE,
    zero_point=CMSIS_SOFTMAX_ZERO_POINT,
    quant_min=INT8_MIN,
    quant_max=INT8_MAX,
    qscheme=torch.per_tensor_affine,
)


INT16_ACTIVATION_PER_TENSOR_QSPEC = QuantizationSpec(
    dtype=torch.int16,
    observer_or_fake_quant_ctr=MinMaxObserver,
    quant_min=INT16_MIN,
    quant_max=INT16_MAX,
    qscheme=torch.per_tensor_symmetric,
)


def recorded_input_qspec(tuner: Tuner) -> QuantizationSpec:
    """Not a quantization: only how an InputRecorder that works for `tuner` gets behind a graph input."""
    return QuantizationSpec(dtype=torch.float32, observer_or_fake_quant_ctr=InputRecorder.with_args(tuner=tuner))


def masked_qspec(qspec: QuantizationSpec, headroom: float) -> QuantizationSpec:
    """That of masked scores whose other values have `qspec`; see MaskedObserver."""
    return replace(qspec, observer_or_fake_quant_ctr=MaskedObserver.with_args(headroom=headroom))


def own_qspec(qspec: QuantizationSpec) -> QuantizationSpec:
    """The same, but with observers that PT2E shares with no other specification around a tensor.

    It compares a few fields of theirs for that. The axis is one of them, and where a tensor has one scale, nobody else reads it.
    """
    return replace(qspec, ch_axis=next(_own_axes))


def bias_qspec(
    layer: Node,
    activation: Node,
    weight: Node,
    per_channel: bool,
    spread: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> DerivedQuantizationSpec:
    """The int32 specification of the bias of `layer(activation, weight, bias)`.

    spread: from the scales of the weight to one for each output channel, where they are not that already.
    """

    def qparams(observers) -> tuple[torch.Tensor, torch.Tensor]:
        input_scale, _ = observers[0].calculate_qparams()
        weight_scale, _ = observers[1].calculate_qparams()
        weight_scale = weight_scale if spread is None else spread(weight_scale)
        scale = (input_scale.double() * weight_scale.double()).float().reshape(-1)
        return scale, torch.zeros_like(scale, dtype=torch.int32)

    return DerivedQuantizationSpec(
        derived_from=[(activation, layer), (weight, layer)],
        derive_qparams_fn=qparams,
        dtype=torch.int32,
        quant_min=INT32_MIN,
        quant_max=INT32_MAX,
        qscheme=torch.per_channel_symmetric if per_channel else torch.per_tensor_symmetric,
        ch_axis=0 if per_channel else None,
    )


# Weight of the newest batch in the running range of an activation.
ACTIVATION_AVERAGING = 0.01


@dataclass(frozen=True)
class CortexMQuantizationConfig:
    """The specifications that one kind of layer uses.

    Args:
        input_activation, output_activation: for the tensors between layers.
        weight: for a constant second argument of convolutions and linear; per channel or per tensor.
        bias: makes the specification of a layer's bias, as `bias_qspec`; None leaves it in float until lowering, which
            rounds it to the same int32.
        label: how reports call it.
    """

    input_activation: QuantizationSpec
    output_activation: QuantizationSpec
    weight: QuantizationSpec
    bias: Callable[..., QuantizationSpecBase] | None = bias_qspec
    label: str = "own configuration"

    @property
    def per_channel(self) -> bool:
        return self.weight.ch_axis is not None

    def for_training(self) -> CortexMQuantizationConfig:
        """The same with fake quantization: values in training are rounded as the device will round them."""
        return replace(
            self,
            input_activation=_fake(self.input_activation, averaging_constant=ACTIVATION_AVERAGING),
            output_activation=_fake(self.output_activation, averaging_constant=ACTIVATION_AVERAGING),
            # Weights are known, not sampled: their range is that of the last step.
            weight=_fake(self.weight, averaging_constant=1.0),
            # torchao folds batch norms into a float bias.
            bias=None,
        )


def _fake(qspec: QuantizationSpec, averaging_constant: float) -> QuantizationSpec:
    kind = FakeQuantize if qspec.ch_axis is None else PerChannelFakeQuantize
    return replace(qspec, observer_or_fake_quant_ctr=kind.with_args(averaging_constant=averaging_constant))


INT8_PER_CHANNEL_CONFIG = CortexMQuantizationConfig(
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_WEIGHT_PER_CHANNEL_QSPEC,
    label="int8 activations, int8 weights per channel",
)
INT8_PER_TENSOR_CONFIG = CortexMQuantizationConfig(
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_WEIGHT_PER_TENSOR_QSPEC,
    label="int8 activations, int8 weights per tensor",
)
INT16_PER_TENSOR_CONFIG = CortexMQuantizationConfig(
    INT16_ACTIVATION_PER_TENSOR_QSPEC,
    INT16_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_WEIGHT_PER_TENSOR_QSPEC,
    label="int16 activations, int8 weights per tensor",
)
