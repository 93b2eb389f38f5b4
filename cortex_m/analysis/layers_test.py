"""Facts of layers: multiply-accumulates against PyTorch's own counter, kernels against the library's scratch sizes."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from cortex_m.analysis.kernels import kernel_set
from cortex_m.analysis.layers import ProgramFacts
from cortex_m.export import ModelSource, export_model
from cortex_m.host.library import KernelSet, convolve_kernel, depthwise_conv_kernel
from cortex_m.target_config import CortexM, CortexMTargetConfig, core_table

UPSTREAM = Path("cortex_m/test/upstream_programs")


class Net(nn.Module):
    """One of each operator that sums products, and some that do not."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.grouped = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.depthwise = nn.Conv2d(8, 16, 3, padding=1, groups=8)
        self.up = nn.ConvTranspose2d(16, 6, 2, stride=2)
        self.linear = nn.Linear(6, 5)

    def forward(self, x):
        x = self.depthwise(torch.relu(self.grouped(self.conv(x))))
        x = self.up(x).flatten(2)
        return self.linear(torch.matmul(x, x.transpose(1, 2)))


@pytest.fixture(scope="module")
def exported():
    torch.manual_seed(0)
    module, inputs = Net().eval(), (torch.randn(1, 3, 12, 16),)
    return module, inputs, export_model(ModelSource(module, inputs), CortexMTargetConfig(CortexM.M55))


def test_macs_are_half_of_the_operations_that_pytorch_counts(exported):
    module, inputs, result = exported
    with FlopCounterMode(display=False) as counter:
        module(*inputs)
    facts = ProgramFacts.of(result.program)
    assert facts.macs == counter.get_total_flops() // 2
    assert all(layer.macs is not None for layer in facts.layers)


def test_packed_convolutions_have_the_macs_of_plain_ones(exported):
    """The program is for an M55, whose convolutions are packed."""
    facts = ProgramFacts.of(exported[2].program)
    packed = [layer for layer in facts.layers if layer.op == "cortex_m::packed_conv2d_nhwc"]
    assert [layer.kernels for layer in packed] == [{"mve": "packed"}] and packed[0].macs == 6 * 8 * 8 * 9 * 3


def test_layers_are_those_of_the_lowering_report(exported):
    _, _, result = exported
    facts = ProgramFacts.of(result.program)
    rows = result.lowering_report.instructions
    assert [(layer.index, layer.op) for layer in facts.layers] == [(row.index, row.op) for row in rows]
    assert [layer.outputs[0].shape for layer in facts.layers] == [row.shape for row in rows]


def test_tensors_constants_and_target(exported):
    module, _, result = exported
    facts = ProgramFacts.of(result.program)
    assert (facts.target, facts.method, facts.file_bytes) == ("cortex-m55", "forward", len(result.program))
    assert [str(tensor) for tensor in facts.inputs] == ["float32 1x3x12x16"]
    conv = next(layer for layer in facts.layers if layer.op == "cortex_m::quantized_conv2d_nhwc")
    # Weights in a byte each; bias, multiplier and shift of each channel in four.
    assert conv.constant_bytes == module.grouped.weight.numel() + 8 * 3 * 4
    assert conv.outputs[0].shape == (1, 6, 8, 8)
    assert [tensor.role for tensor in conv.inputs] == ["input"]
    assert conv.scratch_bytes > 0
    json.dumps(facts.to_json())


def test_another_exporters_program():
    facts = ProgramFacts.of((UPSTREAM / "ds_cnn_m55.pte").read_bytes())
    assert facts.target is None
    # DS-CNN of MLPerf Tiny: 25 * 5 positions, 64 channels.
    positions = 25 * 5
    assert facts.macs == positions * 64 * 40 + 4 * (positions * 64 * 9 + positions * 64 * 64) + 64 * 12


def test_kernel_is_that_of_the_scratch_in_the_program():
    """ExecuTorch's own exporter asks CMSIS-NN for scratch; where that is less than our kernel takes, another one runs."""
    facts = ProgramFacts.of((UPSTREAM / "ds_cnn_m4.pte").read_bytes())
    pointwise = [layer for layer in facts.layers if layer.op == "cortex_m::quantized_conv2d"]
    assert {layer.kernels["mve"] for layer in pointwise} == {"direct"}
    assert [layer.scratch_bytes for layer in pointwise] == [0] * 4


def test_kernels_by_shape():
    image, window = (1, 32, 32, 64), ([1, 1], [1, 1], [1, 1])
    small = (1, 3, 3, 64)
    assert convolve_kernel(KernelSet.MVE, image, (64, 3, 3, 64), image, *window) == "columns"
    assert depthwise_conv_kernel(KernelSet.MVE, image, small, image, *window, 1) == "patches"
    assert depthwise_conv_kernel(KernelSet.MVE, (1, 3, 3, 64), small, (1, 3, 3, 64), *window, 1) == "lanes"
    assert depthwise_conv_kernel(KernelSet.DSP, image, small, image, *window, 1) == "fours"
    assert depthwise_conv_kernel(KernelSet.THUMB2, image, small, image, *window, 1) == "fours"
    assert depthwise_conv_kernel(KernelSet.SCALAR, image, small, image, *window, 1) == "scalar"
    assert depthwise_conv_kernel(KernelSet.MVE, image, (1, 3, 3, 128), (1, 32, 32, 128), *window, 2) == "scalar"
    assert convolve_kernel(KernelSet.MVE, (1, 0, 32, 64), (64, 3, 3, 64), image, *window) == ""


def test_every_core_has_a_set_of_kernels():
    found = {core: kernel_set(core).name for core in core_table()}
    assert found["cortex_m3"] == "THUMB2" and found["cortex_m4"] == "DSP" and found["cortex_m85"] == "MVE"
    assert {core for core, name in found.items() if name == "SCALAR"} == {"cortex_m0", "cortex_m0plus", "cortex_m23"}


def test_unknown_method_and_damaged_seal(exported):
    _, _, result = exported
    with pytest.raises(ValueError, match="the program has no method backward; it has forward"):
        ProgramFacts.of(result.program, "backward")
    damaged = bytearray(result.program)
    damaged[200] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        ProgramFacts.of(bytes(damaged))


def test_facts_are_frozen(exported):
    with pytest.raises(dataclasses.FrozenInstanceError):
        ProgramFacts.of(exported[2].program).method = "other"
