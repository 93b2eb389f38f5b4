"""Comparisons of outputs: exact, or with a tolerance in quantization steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram

_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor"


@dataclass(frozen=True)
class ErrorStatistics:
    """How one output differs from its reference.

    error_l2_norm: Euclidean norm of the difference; error_mae, error_max: mean and largest absolute difference;
    error_msd: mean signed difference; sqnr: power of the reference over power of the difference, in dB.
    """

    shape: tuple[int, ...]
    numel: int
    error_l2_norm: float
    error_mae: float
    error_max: float
    error_msd: float
    sqnr: float

    @classmethod
    def from_tensors(cls, actual: torch.Tensor, reference: torch.Tensor) -> ErrorStatistics:
        error = actual.detach().double() - reference.detach().double()
        signal, noise = float(reference.detach().double().square().sum()), float(error.square().sum())
        decibels = float(10 * torch.log10(torch.tensor(signal / noise))) if noise else float("inf")
        if not error.numel():
            return cls(tuple(actual.shape), 0, 0.0, 0.0, 0.0, 0.0, decibels)
        return cls(
            tuple(actual.shape), actual.numel(), noise**0.5, float(error.abs().mean()), float(error.abs().max()),
            float(error.mean()), decibels,
        )  # fmt: skip


def require_equal_bytes(actual: Sequence[torch.Tensor], predicted: Sequence[torch.Tensor], where: str) -> None:
    """AssertionError unless both have the same shapes, dtypes and bits; NaN equals the same NaN, and 0 is not -0."""
    assert len(actual) == len(predicted), f"{where} gives {len(actual)} outputs, {len(predicted)} are predicted"
    for index, (got, want) in enumerate(zip(actual, predicted)):
        assert (got.shape, got.dtype) == (want.shape, want.dtype), (
            f"output {index} of {where} is {got.dtype} {tuple(got.shape)}, predicted is {want.dtype} {tuple(want.shape)}"
        )
        got, want = (value.contiguous().flatten() for value in (got, want))
        wrong = (got.view(torch.uint8) != want.view(torch.uint8)).view(got.numel(), -1).any(1)
        if bool(wrong.any()):
            first = int(wrong.nonzero()[0])
            raise AssertionError(
                f"output {index} of {where} differs from the prediction in {int(wrong.sum())} of {got.numel()} elements; "
                f"the first, {first}, is {got[first].item()} instead of {want[first].item()}"
            )


def require_close(
    actual: Sequence[torch.Tensor],
    reference: Sequence[torch.Tensor],
    scales: Sequence[float | None],
    atol: float,
    rtol: float,
    qtol: float,
    where: str,
) -> None:
    """AssertionError unless |actual - reference| <= atol + qtol * scale + rtol * |reference| everywhere.

    Args:
        scales: step of each output that is quantized, None for the others.
    """
    assert len(actual) == len(reference), f"{where} gives {len(actual)} outputs, the reference {len(reference)}"
    for index, (got, want, scale) in enumerate(zip(actual, reference, scales)):
        steps = f", {qtol:g} steps of {scale:g}" if scale is not None and qtol else ""
        torch.testing.assert_close(
            got, want, atol=atol + qtol * (scale or 0.0), rtol=rtol, equal_nan=True,
            msg=lambda text: f"output {index} of {where} differs by more than atol {atol:g}, rtol {rtol:g}{steps}: {text}",
        )  # fmt: skip


def output_scales(program: ExportedProgram) -> list[float | None]:
    """The scale of each output of a quantized program that a dequantize node gives, None for the others."""
    results = program.graph.output_node().args[0]
    return [
        float(result.args[1]) if str(getattr(result, "target", "")).startswith(_DEQUANTIZE) else None
        for result in results
    ]
