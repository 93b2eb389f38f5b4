"""Batch norms wherever a network may have them: folded or not, the values are the float module's."""

import copy

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e import quantize_pt2e
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, Quantizer

from cortex_m.errors import ModelError
from cortex_m.quantizer.batch_norms import fold_batch_norms, use_sound_folding
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.quantizer.recipe import quantize, sqnr_db, targets


def norm(channels: int, seed: int, kind=nn.BatchNorm2d) -> nn.Module:
    """A norm that changes its input much: folded once too often, or not at all, it cannot be overlooked."""
    made, random = kind(channels), torch.Generator().manual_seed(seed)
    for tensor, low, high in (
        (made.running_mean, -1, 1), (made.running_var, 0.2, 3), (made.weight.data, 0.5, 1.5), (made.bias.data, -1, 1),
    ):  # fmt: skip
        tensor.uniform_(low, high, generator=random)
    return made


class Parts(nn.Module):
    """forward is `function(parts, x)`."""

    def __init__(self, function, **parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x):
        return self.function(self, x)


def read_twice(m, x):
    y = m.layer(x)
    return m.norm(y).relu() + y


def two_norms(m, x):
    y = m.layer(x)
    return m.norm(y).relu() + m.other(y)


def pre_activation(m, x):
    y = m.layer(x)
    return m.inner(m.norm(y).relu()) + y


def called_twice(m, x):
    y = m.norm(m.layer(x))
    return m.other(m.layer(y.relu())) + y


def folded(m, x):
    return m.norm(m.layer(x)).relu()


def is_a_result(m, x):
    y = m.layer(x)
    return y, m.norm(y)


def shared_weight(m, x):
    return m.norm(m.layer(x)) + nn.functional.conv2d(x, m.layer.weight)


def added_in_place(m, x):
    y = m.layer(x)
    z = m.norm(y)
    return y.add_(1) * z


IMAGE, ROW, LINE = (2, 4, 6, 6), (3, 4), (2, 4, 9)
# name: (forward, layer, kind of norm, input, batch norms that are left as convolutions of their own)
CASES = {
    "conv2d, read twice": (read_twice, nn.Conv2d(4, 4, 3), nn.BatchNorm2d, IMAGE, 1),
    "conv1d, read twice": (read_twice, nn.Conv1d(4, 4, 3), nn.BatchNorm1d, LINE, 1),
    "linear, read twice": (read_twice, nn.Linear(4, 4), nn.BatchNorm1d, ROW, 1),
    "transposed, read twice": (read_twice, nn.ConvTranspose2d(4, 4, 3, 2), nn.BatchNorm2d, IMAGE, 1),
    "transposed 1d, read twice": (read_twice, nn.ConvTranspose1d(4, 4, 3, 2), nn.BatchNorm1d, LINE, 1),
    "two norms": (two_norms, nn.Conv2d(4, 4, 3, bias=False), nn.BatchNorm2d, IMAGE, 2),
    "two norms of linear": (two_norms, nn.Linear(4, 4), nn.BatchNorm1d, ROW, 2),
    "pre-activation": (pre_activation, nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d, IMAGE, 1),
    "linear called twice": (called_twice, nn.Linear(4, 4), nn.BatchNorm1d, ROW, 0),
    "conv called twice": (called_twice, nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d, IMAGE, 0),
    "chain": (lambda m, x: m.other(m.norm(m.layer(x))), nn.Conv2d(4, 4, 3), nn.BatchNorm2d, IMAGE, 0),
    "transposed, groups": (folded, nn.ConvTranspose2d(4, 4, 3, 2, groups=2), nn.BatchNorm2d, IMAGE, 0),
    "transposed 1d": (folded, nn.ConvTranspose1d(4, 4, 3, 2), nn.BatchNorm1d, LINE, 0),
    "depthwise": (folded, nn.Conv2d(4, 8, 3, groups=4), nn.BatchNorm2d, IMAGE, 0),
    "linear over the last of three": (folded, nn.Linear(9, 6), nn.BatchNorm1d, LINE, 1),
    "no layer before, rows": (lambda m, x: m.layer(m.norm(x).relu()), nn.Linear(4, 4), nn.BatchNorm1d, ROW, 1),
    "no layer before, lines": (lambda m, x: m.layer(m.norm(x).relu()), nn.Conv1d(4, 4, 3), nn.BatchNorm1d, LINE, 1),
    "result": (is_a_result, nn.Conv2d(4, 4, 3), nn.BatchNorm2d, IMAGE, 1),
    "shared weight": (shared_weight, nn.Conv2d(4, 4, 3), nn.BatchNorm2d, IMAGE, 0),
    "changed in place": (added_in_place, nn.Conv2d(4, 4, 3), nn.BatchNorm2d, IMAGE, 1),
}  # fmt: skip


def network(name: str) -> tuple[nn.Module, list[tuple[torch.Tensor]], int]:
    forward, layer, kind, shape, left = CASES[name]
    torch.manual_seed(0)
    layer.reset_parameters()
    parts = {"layer": layer, "norm": norm(getattr(layer, "out_channels", 4), 1, kind), "other": norm(4, 2, kind)}
    parts["inner"] = nn.Conv2d(4, 4, 3, padding=1)
    return Parts(forward, **parts).eval(), [(torch.randn(shape),) for _ in range(6)], left


def leaves(value) -> list[torch.Tensor]:
    return list(value) if isinstance(value, tuple) else [value]


def captured(module: nn.Module, inputs: tuple) -> torch.fx.GraphModule:
    return torch.export.export(module, inputs).module()


@pytest.mark.parametrize("name", CASES)
def test_int8_is_close_to_the_float_module(name):
    module, samples, _ = network(name)
    converted, quantizer = quantize(module, *samples)
    assert not quantizer.report.float_nodes and "batch_norm" not in targets(converted), quantizer.report
    with torch.no_grad():
        expected, given = ([leaves(net(*sample)) for sample in samples] for net in (module, converted))
    for wanted, got in zip(zip(*expected), zip(*given), strict=True):
        assert sqnr_db(torch.stack(wanted), torch.stack(got)) > 33


@pytest.mark.parametrize("name", CASES)
def test_folding_keeps_every_value_and_the_module(name):
    module, samples, left = network(name)
    before = copy.deepcopy(module.state_dict())
    graph = captured(module, samples[0])
    fold_batch_norms(graph)
    with torch.no_grad():
        for expected, given in zip(leaves(module(*samples[1])), leaves(graph(*samples[1])), strict=True):
            assert sqnr_db(expected, given) > 110
    assert targets(graph).count("batch_norm") == left
    after = module.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())


def test_the_form_of_run_decompositions_folds():
    module, samples, _ = network("depthwise")
    program = torch.export.export(module, samples[0])
    graph = program.run_decompositions({}).module()
    assert "aten._native_batch_norm_legit_no_training.default" in [str(node.target) for node in graph.graph.nodes]
    converted = prepare_pt2e(graph, CortexMQuantizer())
    with torch.no_grad():
        assert sqnr_db(module(*samples[0]), converted(*samples[0])) > 110


class Nothing(Quantizer):
    """Somebody else's quantizer: quantizes nothing."""

    def annotate(self, model):
        for node in model.graph.nodes:
            node.meta["quantization_annotation"] = QuantizationAnnotation(_annotated=True)
        return model

    def validate(self, model):
        pass


def test_other_quantizers_get_the_same_values():
    module, samples, _ = network("conv2d, read twice")
    prepared = prepare_pt2e(captured(module, samples[0]), Nothing())
    with torch.no_grad():
        assert sqnr_db(module(*samples[0]), prepared(*samples[0])) > 110


def test_norms_without_statistics_are_refused_by_line():
    module = Parts(folded, layer=nn.Conv2d(4, 4, 3), norm=nn.BatchNorm2d(4, track_running_stats=False)).eval()
    with pytest.raises(ModelError, match=r"batch_norms_test.py:\d+: batch_norm has no running statistics"):
        quantize(module, (torch.randn(IMAGE),))


def test_a_torchao_that_folds_elsewhere_is_refused(monkeypatch):
    monkeypatch.delattr(quantize_pt2e, "_fuse_linear_bn_")
    with pytest.raises(RuntimeError, match="has no _fuse_linear_bn_"):
        use_sound_folding()
