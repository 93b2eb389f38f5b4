"""Accuracy against values worked out by hand."""

import math

import numpy as np
import pytest

from cortex_m.test import accuracy


def test_sqnr_is_of_each_output_over_all_samples():
    floats = [(np.array([[3.0, 4.0]]), np.array([[1.0]])), (np.array([[0.0, 5.0]]), np.array([[1.0]]))]
    device = [(np.array([[3.0, 3.0]]), np.array([[1.0]])), (np.array([[0.0, 5.0]]), np.array([[0.9]]))]
    reached = accuracy.measure(list(zip(floats, device)))
    assert reached.samples == 2
    assert reached.sqnr_db == pytest.approx((10 * math.log10(50 / 1), 10 * math.log10(2 / 0.01)))
    assert reached.worst_sqnr_db == reached.sqnr_db[0]


def test_top1_is_of_the_channels_of_the_first_output():
    one = np.array([[1.0, 2.0, 0.0]])
    other = np.array([[3.0, 2.0, 0.0]])
    reached = accuracy.measure([((one,), (one,)), ((one,), (other,)), ((other,), (other,)), ((other,), (other,))])
    assert reached.top1_agreement == 0.75
    image = np.stack([np.zeros((2, 2)), np.array([[1.0, 1.0], [-1.0, -1.0]])])[np.newaxis]  # [1, 2, 2, 2]
    turned = image.copy()
    turned[0, 1, 0, 0] = -1
    assert accuracy.measure([((image,), (turned,))]).top1_agreement == 0.75  # 4 places
    vector = np.array([1.0, 2.0])
    assert accuracy.measure([((vector,), (vector,))]).top1_agreement == 1.0


def test_equal_silent_and_no_samples():
    zero, one = np.zeros((1, 2)), np.ones((1, 2))
    assert accuracy.measure([((one,), (one,))]).sqnr_db == (math.inf,)
    assert accuracy.measure([((zero,), (one,))]).sqnr_db == (-math.inf,)
    with pytest.raises(ValueError, match="no samples"):
        accuracy.measure([])
