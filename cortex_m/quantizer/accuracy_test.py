"""MobileNetV2 with its ImageNet weights: the int8 model against the float one on photos.

Calibrated on eleven of scikit-image's photos; the twelfth, chelsea, is never seen before. SQNR is that of the logits.
Measured: mean 17.2 dB, smallest 12.2 dB (clock_motion), chelsea 19.4 dB, top-1 equal on ten of twelve.
"""

import pytest
import torch

from cortex_m.quantizer.recipe import quantize, sqnr_db, targets
from examples import mobilenet_v2, photos

UNSEEN = "chelsea.png"


@pytest.fixture(scope="module")
def results():
    """name -> (float logits, int8 logits)."""
    model = mobilenet_v2.pretrained()
    images = {name: photos.load(photos.sample_path(name)) for name in photos.SAMPLES}
    calibration = [(image,) for name, image in images.items() if name != UNSEEN]
    converted, quantizer = quantize(model, *calibration)
    assert not quantizer.report.float_nodes
    assert len(quantizer.report.quantized) == 52 + 10 + 1 + 1  # conv2d, add, mean, linear
    assert "dropout" not in targets(converted)
    with torch.no_grad():
        return {name: (model(image), converted(image)) for name, image in images.items()}


def test_top1_agrees_on_ten_photos_of_twelve(results):
    different = [name for name, (expected, actual) in results.items() if expected.argmax() != actual.argmax()]
    assert len(different) <= 2, different


def test_unseen_cat_is_an_egyptian_cat(results):
    expected, actual = results[UNSEEN]
    assert actual.argmax() == 285
    assert sqnr_db(expected, actual) > 17.0


def test_mean_sqnr_is_at_least_16_5_db(results):
    values = {name: sqnr_db(*pair) for name, pair in results.items()}
    print({name: round(value, 1) for name, value in values.items()})
    assert sum(values.values()) / len(values) >= 16.5, values
    assert min(values.values()) > 11.5, values
