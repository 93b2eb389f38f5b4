"""What the tests of the passes share: quantized graphs, written by hand or by the quantizer, and their lowering."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.exir._serialize._program import deserialize_pte_binary
from torch.export import ExportedProgram, export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.passes.report import LoweringReport
from cortex_m.passes.testing.exact import expect
from cortex_m.passes.testing.parameters import parameters
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.target_config import CortexMTargetConfig

_decomposed = torch.ops.quantized_decomposed


def round_trip(x: torch.Tensor, scale: float, zero_point: int, low: int = -128, high: int = 127) -> torch.Tensor:
    """x quantized to int8 and back, as convert_pt2e writes it."""
    q = _decomposed.quantize_per_tensor(x, scale, zero_point, low, high, torch.int8)
    return _decomposed.dequantize_per_tensor(q, scale, zero_point, low, high, torch.int8)


@dataclass(frozen=True)
class Lowered:
    """A quantized program before and after the passes, and the .pte made of it."""

    exported: ExportedProgram
    edge: ExportedProgram
    report: LoweringReport
    data: bytes

    @property
    def ops(self) -> list[str]:
        """Instructions of the .pte without namespace and overload."""
        return [name.split("::")[1].rsplit(".", 1)[0] for name in ReferenceProgram(self.data).instruction_names()]

    def run(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        """The program's outputs. AssertionError unless each number is what the exact oracle computes from `exported`.

        What stays in float has no exact integers: a program with refusals is run, and the caller compares.
        """
        outputs = ReferenceProgram(self.data).run(inputs)
        if self.report.refusals:
            return outputs
        expected = expect(self.exported, inputs)
        for index, (got, want) in enumerate(zip(outputs, expected.outputs, strict=True)):
            assert got.shape == want.shape and got.dtype == want.dtype, f"output {index}"
            differ = (got != want) & ~(got.isnan() & want.isnan())
            assert not bool(differ.any()), (
                f"output {index}: {int(differ.sum())} of {got.numel()} values differ from the exact ones, "
                f"{got[differ][0]} instead of {want[differ][0]} to begin with\n{self.report}"
            )
        found = parameters(self.edge)
        if any(op.startswith("packed_") for op in self.ops):  # their multipliers are among the packed bytes
            found |= expected.needed
        assert expected.needed <= found, f"not in the program: {sorted(expected.needed - found)}\n{self.report}"
        extra = found - expected.needed - expected.permitted
        assert not extra, f"in the program without need: {sorted(extra)}\n{self.report}"
        return outputs

    def reference(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        """The quantize-dequantize graph in float, as PyTorch computes it."""
        result = self.exported.module()(*inputs)
        return list(result) if isinstance(result, (tuple, list)) else [result]

    def constants(self) -> list[bytes]:
        """Contents of the constant buffers in the file, without the reserved first one."""
        return [bytes(buffer.storage) for buffer in deserialize_pte_binary(self.data).program.constant_buffer[1:]]

    def used_constants(self) -> set[int]:
        """Indices of constant buffers that an instruction reads."""
        plan = deserialize_pte_binary(self.data).program.execution_plan[0]
        read = {index for chain in plan.chains for i in chain.instructions for index in i.instr_args.args}
        values = [plan.values[index].val for index in read]
        return {value.data_buffer_idx for value in values if getattr(value, "data_buffer_idx", 0)}


def lower_exported(exported: ExportedProgram, target: CortexMTargetConfig | None = None, **options: Any) -> Lowered:
    manager = CortexMPassManager(target_config=target, **options)
    edge = to_edge_transform_and_lower(
        exported, compile_config=cortex_m_edge_compile_config(), transform_passes=manager
    )
    program = copy.deepcopy(edge.exported_program())  # to_executorch changes the graph it is given
    return Lowered(exported, program, manager.report, bytes(edge.to_executorch().buffer))


def lower(module: torch.nn.Module, *inputs: torch.Tensor, **options: Any) -> Lowered:
    """A module that quantizes and dequantizes for itself."""
    return lower_exported(export(module.eval(), inputs), **options)


def quantize(
    module: torch.nn.Module, *inputs: torch.Tensor, calibration: Sequence[tuple] = (), tune: bool = True
) -> torch.fx.GraphModule:
    """The recipe of the README up to convert_pt2e; calibrated on the inputs themselves if nothing else is given."""
    prepared = prepare_pt2e(export(module.eval(), inputs).module(), CortexMQuantizer(tune=tune))
    with torch.no_grad():
        for sample in calibration or [inputs]:
            prepared(*sample)
    return convert_pt2e(prepared)


def quantize_and_lower(
    module: torch.nn.Module, *inputs: torch.Tensor, calibration: Sequence[tuple] = (), tune: bool = True, **options: Any
) -> Lowered:
    """The whole recipe."""
    return lower_exported(export(quantize(module, *inputs, calibration=calibration, tune=tune), inputs), **options)
