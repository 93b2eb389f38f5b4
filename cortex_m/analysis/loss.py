"""What an export loses: the signal to quantization noise ratio of each output, and the floor below which it is no export.

loss = Loss.of(names, pairs, kind="samples of `evaluation`")
require_quality(loss, accuracy.layers(), floor_db=10.0)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import torch

from cortex_m.analysis.accuracy import LayerAccuracy

# An int8 network of a few layers has 30 dB to 50 dB, a deep one about 20; with 10 dB a third of what comes out is noise.
FLOOR_DB = 10.0

_NAMED_LAYERS = 3

Tensors = Sequence[torch.Tensor]


class QualityError(ValueError):
    """An output is further from the float model than the floor allows; the message names the layers that lose most."""


@dataclasses.dataclass(frozen=True)
class OutputLoss:
    """sqnr_db: 10 log10(sum of float^2 / sum of (float - int8)^2) over all samples; inf if they are equal, and -inf for an output
    that is all zeros in float and not in int8."""

    name: str
    sqnr_db: float


@dataclasses.dataclass(frozen=True)
class Loss:
    """Of each float output.

    samples: over how many. held_out: whether calibration has not seen them.
    """

    outputs: tuple[OutputLoss, ...]
    samples: int
    held_out: bool

    @classmethod
    def of(cls, names: Sequence[str], pairs: Sequence[tuple[Tensors, Tensors]], *, held_out: bool) -> Loss:
        """`pairs`: for each sample the outputs of the float model and those of the program, as real numbers."""
        signal, noise = [0.0] * len(names), [0.0] * len(names)
        for floats, reals in pairs:
            for position, (real, got) in enumerate(zip(floats, reals)):
                signal[position] += float(real.double().square().sum())
                noise[position] += float((real.double() - got.double()).square().sum())
        floating = [position for position, value in enumerate(pairs[0][0]) if value.is_floating_point()]
        outputs = tuple(OutputLoss(names[i], _decibels(signal[i], noise[i])) for i in floating)
        return cls(outputs, len(pairs), held_out)

    def is_below(self, floor_db: float) -> bool:
        return any(output.sqnr_db < floor_db for output in self.outputs)

    def __str__(self) -> str:
        count = f"{self.samples} sample" + ("s" if self.samples > 1 else "")
        if self.held_out:
            where = f"{count} that calibration has not seen"
        else:
            where = (
                f"the samples that it was calibrated with ({self.samples}); `evaluation` of ModelSource takes others"
            )
        values = ", ".join(f"{output.name} {output.sqnr_db:.2f} dB" for output in self.outputs)
        return f"SQNR of each output, float against int8, on {where}: {values or 'there is no float output'}"

    def to_json(self) -> dict[str, Any]:
        """An SQNR that is not finite is null."""
        rows = [
            {"name": output.name, "sqnr_db": round(output.sqnr_db, 3) if math.isfinite(output.sqnr_db) else None}
            for output in self.outputs
        ]
        return {"samples": self.samples, "held_out": self.held_out, "outputs": rows}


def require_quality(loss: Loss, layers: Sequence[LayerAccuracy], floor_db: float, warnings: Sequence[str] = ()) -> None:
    """QualityError if an output has less than `floor_db`. `layers`: worst first. `warnings`: of the quantizer, sentences."""
    below = [output for output in loss.outputs if output.sqnr_db < floor_db]
    if not below:
        return
    worst = ", ".join(f"{output.name} {output.sqnr_db:.2f} dB" for output in below)
    named = [
        f"{layer.module or layer.value} ({layer.op.split('::')[-1]}, {layer.sqnr_db:.2f} dB)"
        for layer in layers
        if layer.sqnr_db < math.inf
    ]
    cause = ". ".join(warnings) or "The usual cause is calibration with other values than the network meets."
    raise QualityError(
        f"int8 is too far from the float model: {worst}, and the floor is {floor_db:g} dB (sqnr_floor_db). The layers that "
        f"are furthest from it: {'; '.join(named[:_NAMED_LAYERS]) or 'none is compared'}. {cause}"
    )


def _decibels(signal: float, noise: float) -> float:
    if noise == 0.0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0.0 else -math.inf
