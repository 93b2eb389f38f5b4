"""The trained network, for export: calibrated on pictures that it was trained with, predicted on one that was held out."""

from importlib import resources
from pathlib import Path

from cortex_m import ModelSource
from examples.digits.net import samples, trained


def model() -> ModelSource:
    """The entry of //examples/digits:digits."""
    training, held_out = samples()
    return ModelSource(
        module=trained(Path(str(resources.files("examples.digits").joinpath("weights.pt")))),
        example_inputs=(held_out.images[:1],),
        calibration=[(image[None],) for image in training.images[:64]],
        output_shapes=[[1, 10]],
    )
