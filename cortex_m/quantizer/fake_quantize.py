"""Fake quantization for training (QAT): rounds and clamps a value to its int8 grid, and lets gradients pass.

torchao's fused module, with the observer that fits its scheme. Ranges are running averages of the batches' smallest and
largest values; zero is in each of them.
"""

from __future__ import annotations

import torch
from torchao.quantization.pt2e import (
    FusedMovingAvgObsFakeQuantize,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
)

from cortex_m.quantizer.observers import NotCalibratedError


class FakeQuantize(FusedMovingAvgObsFakeQuantize):
    """One scale and zero point a tensor."""

    def __init__(self, observer=MovingAverageMinMaxObserver, **options):
        super().__init__(observer=observer, **options)

    def calculate_qparams(self):
        """Raises NotCalibratedError before the first batch."""
        low, high = self.activation_post_process.min_val, self.activation_post_process.max_val
        if low.numel() == 0 or bool((low > high).any()):
            raise NotCalibratedError("The prepared model was never run: train it before convert_pt2e.")
        return super().calculate_qparams()


class PerChannelFakeQuantize(FakeQuantize):
    """One scale an output channel of a weight. (PT2E hands `ch_axis` to classes named PerChannel... only.)"""

    ch_axis: int

    def __init__(self, **options):
        super().__init__(observer=MovingAveragePerChannelMinMaxObserver, **options)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # The fused operator knows channels in dimension 0 only; those of a transposed convolution are in dimension 1.
        axis, self.ch_axis = self.ch_axis, 0
        try:
            return super().forward(x.transpose(0, axis).contiguous()).transpose(0, axis)
        finally:
            self.ch_axis = axis
