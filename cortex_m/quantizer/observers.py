"""Observers: what calibration remembers of a tensor, and the scale and zero point made of it."""

from __future__ import annotations

import torch
from torchao.quantization.pt2e import MinMaxObserver


class NotCalibratedError(RuntimeError):
    """The prepared model was converted although a tensor of it never saw a calibration sample."""


class ActivationObserver(MinMaxObserver):
    """Range of one activation tensor over the calibration samples.

    Raises NotCalibratedError when asked for parameters before the first sample; ValueError for NaN or infinity.
    """

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        if not bool(torch.isfinite(self.min_val)) and self.min_val > self.max_val:
            raise NotCalibratedError(
                "The prepared model was never run: call it with representative inputs before convert_pt2e."
            )
        if not bool(torch.isfinite(self.max_val - self.min_val)):
            raise ValueError(f"An activation ranges from {self.min_val:g} to {self.max_val:g} in calibration.")
        return super().calculate_qparams()
