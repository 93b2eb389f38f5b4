"""Scales and zero points by their formula, and what observers keep."""

import pytest
import torch

from cortex_m.quantizer.observers import InputRecorder, affine_qparams


@pytest.mark.parametrize(
    ("low", "high", "scale", "zero_point"),
    [
        (-1.0, 1.7, 2.7 / 255, -34),  # -128 + 94.4
        (0.5, 3.0, 3.0 / 255, -128),  # zero is in every range
        (-3.0, -0.5, 3.0 / 255, 127),
    ],
)
def test_parameters_cover_the_range_and_zero(low, high, scale, zero_point):
    assert affine_qparams(low, high, -128, 127) == (pytest.approx(scale, rel=1e-12), zero_point)


def test_a_recorder_keeps_what_it_saw_when_the_caller_uses_the_memory_again():
    class Tuner:
        enabled = True

    recorder, x = InputRecorder(torch.float32, Tuner()), torch.zeros(3)
    recorder(x)
    x.fill_(1.0)
    assert recorder.samples[0].tolist() == [0.0, 0.0, 0.0]
