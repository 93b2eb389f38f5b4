"""Quantization-aware training: a small network learns handwritten digits with rounded values, and becomes a program.

The digits are those of scikit-learn's `load_digits`: 1,797 pictures of 8x8 pixels, ten classes; its file is read, as the
package needs more than this workspace installs.
"""

import copy
import importlib.util
from pathlib import Path

import numpy
import pytest
import torch
from executorch.exir import to_edge_transform_and_lower
from torch import nn
from torch.export import export
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.quantizer.observers import NotCalibratedError
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.test.device import Device

BATCH, STEPS = 64, 60
DEQUANTIZE_CHANNELS = torch.ops.quantized_decomposed.dequantize_per_channel.default


class Digits(nn.Module):
    """Convolutions with and without bias before their batch norm, one without batch norm, dropout."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU6(),
            nn.Conv2d(16, 16, 1), nn.ReLU(),
        )  # fmt: skip
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.dropout(self.features(x).flatten(1)))


def pictures():
    package = Path(importlib.util.find_spec("sklearn").origin).parent
    rows = torch.tensor(numpy.loadtxt(package / "datasets" / "data" / "digits.csv.gz", delimiter=","))
    return rows[:, :64].float().view(-1, 1, 8, 8) / 8 - 1, rows[:, 64].long()


class Trained:
    """The network before and after training, and what came of it."""

    def __init__(self):
        torch.manual_seed(0)
        images, labels = pictures()
        network = Digits().train()
        self.quantizer = CortexMQuantizer(is_qat=True)
        captured = export(network, (images[:BATCH],)).module(check_guards=False)
        self.prepared = prepare_qat_pt2e(captured, self.quantizer)
        optimizer = torch.optim.Adam(self.prepared.parameters(), lr=0.01)
        self.losses = []
        for _ in range(STEPS):
            pick = torch.randint(0, 1500, (BATCH,))
            loss = nn.functional.cross_entropy(self.prepared(images[pick]), labels[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.losses.append(float(loss.detach()))
        self.weights = {name: p.detach().clone() for name, p in self.prepared.named_parameters()}
        move_exported_model_to_eval(self.prepared)
        self.test = images[1500 : 1500 + BATCH]
        self.labels = labels[1500 : 1500 + BATCH]
        self.trained_outputs = self.prepared(self.test).detach()
        self.converted = convert_pt2e(copy.deepcopy(self.prepared))
        self.manager = CortexMPassManager(strict=True)
        edge = to_edge_transform_and_lower(
            export(self.converted, (self.test,)),
            compile_config=cortex_m_edge_compile_config(),
            transform_passes=self.manager,
        )
        self.program = bytes(edge.to_executorch().buffer)


@pytest.fixture(scope="module")
def trained():
    return Trained()


def test_loss_falls(trained):
    first, last = sum(trained.losses[:5]) / 5, sum(trained.losses[-5:]) / 5
    assert last < first / 4, trained.losses


def test_everything_was_quantized(trained):
    assert not trained.quantizer.report.float_nodes, trained.quantizer.report
    assert [layer.nodes for layer in trained.quantizer.report.quantized if layer.pattern == "conv2d"] == [
        ("conv2d", "batch_norm", "relu"), ("conv2d_1", "batch_norm_1", "hardtanh"), ("conv2d_2", "relu_1"),
    ]  # fmt: skip


def test_trained_weights_are_the_programs(trained):
    """Weights of layers without batch norm, rounded to nearest in steps of a 127th of each channel's largest."""
    found = [node for node in trained.converted.graph.nodes if node.target is DEQUANTIZE_CHANNELS and node.args[3] == 0]
    constants = [
        (getattr(trained.converted, node.args[0].target), getattr(trained.converted, node.args[1].target))
        for node in found
    ]
    for name in ("features.6.weight", "head.weight"):
        weight = trained.weights[name]
        ((stored, scale),) = [pair for pair in constants if pair[0].shape == weight.shape]
        step = weight.flatten(1).abs().amax(1) / 127
        torch.testing.assert_close(scale.float().flatten(), step, rtol=1e-5, atol=0)
        real = weight / step.view(-1, *[1] * (weight.dim() - 1))
        assert (stored - real).abs().max() <= 0.5 + 1e-3 and stored.abs().max() == 127


def test_program_is_exact_and_right(trained):
    """0 LSB between prediction and C++ runtime; no float operator; as good as the model that was trained."""
    names = ReferenceProgram(trained.program).instruction_names()
    assert all(name.startswith("cortex_m::") or name == "aten::view_copy.out" for name in names), names
    (predicted,) = ReferenceProgram(trained.program).run((trained.test,))
    (result,) = Device("host").run([(trained.program, (trained.test,))])
    assert result.error is None and torch.equal(result.outputs[0], predicted)
    right = (predicted.argmax(1) == trained.labels).float().mean()
    assert right > 0.85, right
    assert (predicted.argmax(1) == trained.trained_outputs.argmax(1)).float().mean() > 0.95


def test_training_without_is_qat_is_refused():
    captured = export(Digits().train(), (torch.randn(8, 1, 8, 8),)).module(check_guards=False)
    with pytest.raises(ValueError, match=r"qat_test.py:\d+: batch_norm is in training mode.*is_qat=True"):
        prepare_qat_pt2e(captured, CortexMQuantizer())


def test_weights_do_not_train_without_is_qat():
    captured = export(nn.Linear(4, 2).train(), (torch.randn(8, 4),)).module(check_guards=False)
    loss = prepare_qat_pt2e(captured, CortexMQuantizer())(torch.randn(8, 4)).sum()
    with pytest.raises(RuntimeError, match="does not require grad"):
        loss.backward()


def test_converting_untrained_is_an_error():
    captured = export(Digits().eval(), (torch.randn(1, 1, 8, 8),)).module(check_guards=False)
    prepared = prepare_pt2e(captured, CortexMQuantizer(is_qat=True))
    with pytest.raises(NotCalibratedError, match="never run"):
        convert_pt2e(prepared)
