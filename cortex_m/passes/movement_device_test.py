"""The movements of movement_test on devices: the same bytes as the reference gives on the host."""

import pytest
import torch

from cortex_m.passes.movement_cases import ALL, CIRCULAR, IMAGES, SHAPE, SHUFFLES, Between, Network, image
from cortex_m.passes.recipe import lower, quantize_and_lower
from cortex_m.test.device import Device


@pytest.fixture(scope="module")
def programs():
    """Every movement alone, and those of images in NHWC order between convolutions."""
    torch.manual_seed(2)
    x = image(*SHAPE)
    network = Network([*IMAGES.values(), *CIRCULAR.values(), *SHUFFLES.values()], SHAPE)
    return [lower(Between(*ALL.values()), x), quantize_and_lower(network, x, tune=False)]


@pytest.mark.parametrize("core", ["host", "cortex_m4", "cortex_m55"])
def test_devices_move_the_same_bytes(programs, core):
    x = image(*SHAPE)
    results = Device(core).run([(program.data, (x,)) for program in programs])
    for program, result in zip(programs, results, strict=True):
        assert result.error is None
        for got, want in zip(result.outputs, program.run(x), strict=True):
            assert got.dtype == want.dtype and torch.equal(got, want)
