"""Programs for one core: which operators are packed for it, and that it computes the plain program's bytes."""

import functools

import pytest
import torch
from torch import nn
from torch.export import export

from cortex_m.passes.recipe import lower_exported, quantize
from cortex_m.seal import seal
from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig
from cortex_m.test.device import Device

PACKED, PLAIN = "packed_conv2d_nhwc", "quantized_conv2d_nhwc"
CORES = {"cortex_m55": CortexM.M55, "cortex_m4": CortexM.M4, "cortex_m3": CortexM.M3}


class Net(nn.Module):
    """A first layer, strides, a dilated and a grouped layer, odd channels, pointwise layers, one on a single pixel, a linear one."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(8, 20, 1), nn.ReLU6(),
            nn.Conv2d(20, 16, (2, 3), padding=(1, 0), dilation=2),
            nn.Conv2d(16, 16, 3, padding=1, groups=2), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.Conv2d(16, 7, 3), nn.ReLU(),
            nn.Conv2d(7, 34, 1, 2),
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(34, 12, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(12, 8),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


# What becomes of each convolution and the linear layer.
NEUTRAL = [
    PLAIN,
    PLAIN,
    PLAIN,
    PLAIN,
    "quantized_depthwise_conv2d_nhwc",
    PLAIN,
    PLAIN,
    PLAIN,
    "quantized_linear_per_channel",
]
HELIUM = [
    PACKED,
    PACKED,
    PACKED,
    PLAIN,
    "packed_depthwise_conv2d_nhwc",
    PLAIN,
    PACKED,
    PLAIN,
    "quantized_linear_per_channel",
]
DSP = [*NEUTRAL[:-1], "packed_linear"]


@pytest.fixture(scope="module")
def exported():
    torch.manual_seed(0)
    samples = [(torch.randn(1, 3, 21, 19) + 0.5,) for _ in range(4)]
    return export(quantize(Net(), *samples[0], calibration=samples, tune=False), samples[0])


@pytest.fixture(scope="module")
def lowered(exported):
    return functools.lru_cache(lambda target: lower_exported(exported, target))


@pytest.fixture(scope="module")
def plain(lowered):
    return lowered(CortexMTargetConfig.any())


def layers(program) -> list[str]:
    return [op for op in program.ops if "conv2d" in op or "linear" in op]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (CortexMTargetConfig.any(), NEUTRAL),
        (CortexMTargetConfig(CortexM.M55), HELIUM),
        (CortexMTargetConfig(CortexM.M55, portable_program=True), NEUTRAL),
        (CortexMTargetConfig(CortexM.M55, Backend.DSP), DSP),
        (CortexMTargetConfig(CortexM.M4), DSP),
        (CortexMTargetConfig(CortexM.M3), NEUTRAL),
    ],
    ids=str,
)
def test_weights_are_packed_for_a_core_that_is_named(lowered, target, expected):
    program = lowered(target)
    assert layers(program) == expected
    assert not program.report.refusals


@pytest.mark.parametrize("core", CORES)
def test_each_core_runs_its_own_program(lowered, plain, core):
    target = CortexMTargetConfig(CORES[core])
    program = lowered(target)
    inputs = [(torch.randn(1, 3, 21, 19) * scale,) for scale in (1.0, 0.2, 5.0)]
    expected = [plain.run(*values)[0] for values in inputs]
    assert len({tuple(e.flatten().tolist()) for e in expected}) > 1
    sealed = seal(program.data, target)
    for runner in (core, "host"):
        for values, wanted, result in zip(inputs, expected, Device(runner).run([(sealed, v) for v in inputs])):
            assert torch.equal(program.run(*values)[0], wanted)
            assert result.error is None
            assert torch.equal(result.outputs[0], wanted)


def test_a_packed_program_without_a_seal_is_refused_by_other_cores(lowered):
    program = lowered(CortexMTargetConfig(CortexM.M55)).data
    for core in ("cortex_m4", "cortex_m3"):
        (result,) = Device(core).run([(program, (torch.randn(1, 3, 21, 19),))])
        assert "packed_conv2d_nhwc" in result.error and "reads another packing" in result.error


def test_packed_weights_cost_no_more_than_their_padding(lowered, plain):
    """16 values a vector; a packed layer has one constant where the plain one has four."""
    packed = lowered(CortexMTargetConfig(CortexM.M55)).data
    rows = {8: 27, 20: 8, 16: 120, 34: 7}  # channels: depth
    padding = sum(channels * (-depth % 16) for channels, depth in rows.items())
    assert len(packed) <= len(plain.data) + padding
