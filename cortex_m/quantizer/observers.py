"""Observers: what calibration remembers of a tensor, and the scale and zero point made of it.

`ActivationObserver` and `PerChannelWeightObserver` give plain min-max parameters unless tuning (`cortex_m.quantizer.tuning`)
has put better ones in. `InputRecorder` stands behind each graph input and keeps the calibration samples for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import MinMaxObserver, ObserverBase, PerChannelMinMaxObserver

if TYPE_CHECKING:
    from cortex_m.quantizer.tuning.tuner import Tuner

# Calibration samples beyond this are counted in ranges but not replayed in tuning.
RECORDED_BYTES = 256 * 2**20


class NotCalibratedError(RuntimeError):
    """The prepared model was converted although it never saw a calibration sample."""


def affine_qparams(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """(scale, zero point) that cover [low, high] and give zero exactly."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max((high - low) / (quant_max - quant_min), torch.finfo(torch.float32).eps)
    return scale, min(max(round(quant_min - low / scale), quant_min), quant_max)


class ActivationObserver(MinMaxObserver):
    """Range of the activation tensors that share one scale, over the calibration samples.

    Attributes:
        tuned: (low, high) that replaces the observed range, or None.
        bad_call: the number, from 1, of the first call with infinity or NaN; None if there was none.
    """

    tuned: tuple[float, float] | None = None
    bad_call: int | None = None
    _calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self._calls += 1
        if self.bad_call is None and not bool(torch.isfinite(x).all()):
            self.bad_call = self._calls
        return super().forward(x)

    def limits(self) -> tuple[float, float]:
        """The range that scale and zero point are made of, whether it contains zero or not."""
        return self.tuned or (float(self.min_val), float(self.max_val))

    @property
    def has_numbers(self) -> bool:
        """Whether the range is one of numbers, or nothing was observed yet."""
        low, high = float(self.min_val), float(self.max_val)
        return low > high or high - low < float("inf")

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Raises NotCalibratedError before the first sample; ValueError for NaN or infinity."""
        low, high = self.limits()
        if low > high:
            raise NotCalibratedError(
                "The prepared model was never run: call it with representative inputs before convert_pt2e."
            )
        if not high - low < float("inf"):
            raise ValueError(f"An activation ranges from {low:g} to {high:g} in calibration.")
        scale, zero_point = affine_qparams(low, high, self.quant_min, self.quant_max)
        return torch.tensor([scale], dtype=torch.float32), torch.tensor([zero_point], dtype=torch.int32)


class MaskedObserver(ActivationObserver):
    """Range of masked scores: that of what is not minus infinity, which itself lies `headroom` below it."""

    def __init__(self, headroom: float, **options):
        super().__init__(**options)
        self.headroom = headroom

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        open_scores = x.detach()[x != -float("inf")]
        if open_scores.numel():
            super().forward(open_scores)
        return x

    def limits(self) -> tuple[float, float]:
        low, high = super().limits()
        return min(low, 0.0) - self.headroom, high


class PerChannelWeightObserver(PerChannelMinMaxObserver):
    """One scale an output channel of a constant weight. (PT2E hands `ch_axis` to classes named PerChannel... only.)

    Attributes:
        tuned: scales, float32 [channels], that replace those of the largest weights, or None.
    """

    tuned: torch.Tensor | None = None

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        if self.tuned is not None:
            return self.tuned, torch.zeros_like(self.tuned, dtype=torch.int64)
        return super().calculate_qparams()


class InputRecorder(ObserverBase):
    """Keeps the calibration samples of one graph input for tuning, and starts the tuner when conversion begins."""

    def __init__(self, dtype: torch.dtype, tuner: Tuner, **_):
        super().__init__(dtype=dtype)
        self.samples: list[torch.Tensor] = []
        self.tuner = tuner
        self._bytes = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self._bytes += x.nbytes
        if not self.samples or self._bytes <= RECORDED_BYTES:
            # The caller may reuse the memory for the next sample.
            self.samples.append(x.detach().clone())
        else:
            self.tuner.unrecorded += 1
        return x

    def calculate_qparams(self):
        raise NotImplementedError("an input recorder quantizes nothing")

    def convert(self, model: GraphModule, node: Node) -> None:
        """PT2E calls this first of all when it converts `model`; afterwards the recorder is gone from the graph.

        Raises ModelError if a calibration sample has brought NaN or infinity to a range.
        """
        self.tuner.tune(model)
        node.replace_all_uses_with(node.args[0])
        model.graph.erase_node(node)
