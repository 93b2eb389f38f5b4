"""Small float programs for the tests of the runners, by executorch's own exporter.

programs.py add FILE.pte      out = (x + y) + 2 * x for x, y float [2, 3]
programs.py sub FILE.pte      a call of aten::sub.out
programs.py mul FILE.pte      a call of aten::mul.out
programs.py div FILE.pte      a call of aten::div.out
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass

SHAPE = (2, 3)


class Add(torch.nn.Module):
    def forward(self, x, y):
        return torch.add(x + y, x, alpha=2)


class Sub(torch.nn.Module):
    def forward(self, x, y):
        return x - y


class Mul(torch.nn.Module):
    def forward(self, x, y):
        return x * y


class Div(torch.nn.Module):
    def forward(self, x, y):
        return x / y


_MODULES = {"add": Add, "sub": Sub, "mul": Mul, "div": Div}


def program(name: str, planned_ends: bool = True, shape: tuple[int, ...] = SHAPE) -> bytes:
    """The .pte of one of the modules. planned_ends: whether the exporter plans memory for inputs and outputs."""
    exported = torch.export.export(_MODULES[name](), (torch.zeros(shape), torch.zeros(shape)))
    planning = MemoryPlanningPass(alloc_graph_input=planned_ends, alloc_graph_output=planned_ends)
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    return bytes(edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning)).buffer)


def main(argv: list[str]) -> None:
    Path(argv[2]).write_bytes(program(argv[1]))


if __name__ == "__main__":
    main(sys.argv)
