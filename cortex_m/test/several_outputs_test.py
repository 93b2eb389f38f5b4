"""Float operators with several outputs, and with lists of tensors as outputs: planned, analysed, run on the host and on cores."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from executorch.exir import to_edge_transform_and_lower
from torch import nn
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m import ModelSource, export_model
from cortex_m.analysis.memory import MemoryPlan
from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.errors import ModelError
from cortex_m.export import ExportResult
from cortex_m.host import Program
from cortex_m.memory.planning_pass import cortex_m_executorch_config
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.test.device import Device

CORES = ["cortex_m4", "cortex_m55"]


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        found = self._function(x)
        return tuple(found) if isinstance(found, (tuple, list)) else found


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.attention(x, x, x)


def unpool(x: torch.Tensor) -> torch.Tensor:
    return nn.functional.max_unpool2d(*nn.functional.max_pool2d(x, 2, return_indices=True), 2)


def parts(x: torch.Tensor) -> list[torch.Tensor]:
    """More elements than bytes of a part: with a layer on each, what is planned wrong is overwritten."""
    return [torch.cos(torch.exp(part)) for part in torch.split(x, [1, 2, 5], 1)]


def modules() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    """A module and the shape of its input."""
    torch.manual_seed(0)
    norm = nn.BatchNorm3d(4)
    norm.running_mean.normal_(), norm.running_var.uniform_(0.5, 2)
    return {
        "layer_norm": (nn.LayerNorm(8), (2, 8)),
        "layer_norm of two dimensions": (nn.LayerNorm((4, 5), elementwise_affine=False), (2, 3, 4, 5)),
        "group_norm": (nn.GroupNorm(2, 4), (1, 4, 5, 5)),
        "instance_norm": (nn.InstanceNorm2d(4), (2, 4, 5, 5)),
        "instance_norm with weights": (nn.InstanceNorm1d(4, affine=True), (1, 4, 7)),
        "batch_norm": (norm, (1, 4, 3, 3, 3)),
        "topk": (Function(lambda x: torch.topk(x, 3)), (2, 8)),
        "smallest along the first": (Function(lambda x: torch.topk(x, 3, dim=0, largest=False)), (8, 2)),
        "sort": (Function(lambda x: torch.sort(x, descending=True)), (2, 8)),
        "argsort": (Function(lambda x: torch.argsort(x, dim=0)), (8, 2)),
        "var_mean": (Function(lambda x: torch.var_mean(x, 1)), (2, 8)),
        "std_mean": (Function(lambda x: torch.std_mean(x, (1, 2))), (2, 3, 4)),
        "max and where": (Function(lambda x: torch.max(torch.sin(x), 1)), (2, 8)),
        "aminmax": (Function(lambda x: torch.aminmax(x, dim=1)), (2, 8)),
        "max_pool2d with indices": (nn.MaxPool2d(2, return_indices=True), (1, 3, 8, 8)),
        "instance_norm with statistics": (nn.InstanceNorm1d(4, track_running_stats=True), (1, 4, 7)),
        "max_unpool2d": (Function(unpool), (1, 3, 8, 8)),
        "transformer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (1, 5, 8)),
        "attention": (Attention(), (1, 5, 8)),
        "split": (Function(parts), (2, 8)),
        "chunk": (Function(lambda x: torch.chunk(torch.sin(x), 3, 1)), (2, 8)),
        "unbind": (Function(lambda x: torch.unbind(torch.sin(x), 1)), (2, 4)),
        "gru": (nn.GRU(4, 3), (5, 1, 4)),
        "gru, one step": (nn.GRU(4, 3), (1, 1, 4)),
        "gru, both ways": (nn.GRU(4, 3, num_layers=2, bidirectional=True, batch_first=True), (2, 3, 4)),
        "lstm": (nn.LSTM(4, 3), (4, 1, 4)),
        "lstm, one step": (nn.LSTM(4, 3, batch_first=True), (1, 1, 4)),
        "rnn": (nn.RNN(4, 3), (3, 1, 4)),
    }


MODULES = modules()


@functools.cache
def exported(name: str) -> ExportResult:
    module, shape = MODULES[name]
    samples = [(torch.randn(shape, generator=torch.Generator().manual_seed(n)),) for n in range(3)]
    return export_model(ModelSource(module.eval(), samples[0], calibration=samples))


@pytest.mark.parametrize("name", MODULES)
def test_it_runs_and_is_what_pytorch_gives(name):
    result = exported(name)
    result.memory.require_sound()
    assert result.sqnr_db > 30
    if not any(instruction.op.startswith("cortex_m::") for instruction in result.lowering_report.instructions):
        for got, want in zip(result.expected, result.float_outputs, strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("core", CORES)
def test_cores_give_the_predicted_bytes(core):
    results = {name: exported(name) for name in MODULES}
    runs = Device(core).run([(result.program, result.inputs) for result in results.values()])
    for (name, result), run in zip(results.items(), runs):
        assert run.error is None, f"{name}: {run.error}"
        for position, (got, want) in enumerate(zip(run.outputs, result.expected, strict=True)):
            assert torch.equal(got, want), f"{name}, output {position}"


@pytest.mark.parametrize("name", ["layer_norm", "gru"])
def test_the_steps_of_the_readme(name):
    module, _ = MODULES[name]
    inputs = exported(name).inputs
    prepared = prepare_pt2e(export(module.eval(), inputs).module(), CortexMQuantizer())
    prepared(*inputs)
    exported_program = export(convert_pt2e(prepared), inputs)
    edge = to_edge_transform_and_lower(
        exported_program, compile_config=cortex_m_edge_compile_config(), transform_passes=CortexMPassManager()
    )
    program = bytes(edge.to_executorch(cortex_m_executorch_config()).buffer)
    MemoryPlan.of(program).require_sound()
    for got, want in zip(Program(program).run(inputs), exported(name).expected, strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("kthvalue", lambda x: torch.kthvalue(x, 3)),
        ("median", lambda x: torch.median(x, 1)),
        ("cummax", lambda x: torch.cummax(x, 1)),
        ("adaptive_max_pool2d", lambda x: nn.functional.adaptive_max_pool2d(x[None], (2, 3), return_indices=True)),
    ],
)
def test_without_a_kernel_it_is_refused_with_its_source_line(name, function):
    message = rf"several_outputs_test\.py:\d+.*: aten_{name}\w* stays in float, and the device has no kernel for aten::{name}: "
    with pytest.raises(ModelError, match=message):
        export_model(ModelSource(Function(function), (torch.randn(2, 8),)))
