"""MobileNetV2 with its ImageNet weights, for export: calibrated on eleven photos, predicted on the twelfth, a cat."""

from cortex_m import ModelSource
from examples import mobilenet_v2, photos

PREDICTED = "chelsea.png"


def model() -> ModelSource:
    """The entry of //examples:mobilenet_model."""
    return ModelSource(
        module=mobilenet_v2.pretrained(),
        example_inputs=(photos.load(photos.sample_path(PREDICTED)),),
        calibration=[(photos.load(photos.sample_path(name)),) for name in photos.SAMPLES if name != PREDICTED],
        output_shapes=[[1, 1000]],
    )
