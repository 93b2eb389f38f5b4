"""Exports small PyTorch modules whose programs have what exir's emitter does beside plain calls, and their expected outputs.

    export_programs.py FOLDER

writes branch.pte, several_outs.pte, state.pte and exported_programs.inc: `{program, {inputs...}, {outputs...}},`, the outputs
computed by PyTorch in eager mode. All numbers are small multiples of 1/4, so that sums and products are exact in float32.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass


class Branch(torch.nn.Module):
    """JumpFalse and Move: a sum or a product, by a tensor of one bool."""

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        return torch.cond(condition, lambda a: a + a, lambda a: a * a, [x])


class SeveralOuts(torch.nn.Module):
    """Lists of tensors, as arguments and as what is returned."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        values, indices = torch.max(x, dim=1)
        first, rest = torch.split(x, [1, 2], dim=1)
        return values, indices.to(torch.float32), torch.cat([rest, first], dim=1)


class State(torch.nn.Module):
    """A buffer with an initial state that a call changes in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor([100.0, -100.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total + x


def braced(elements: Iterable[str]) -> str:
    """A C++ braced list."""
    return "{" + ", ".join(elements) + "}"


def floats(tensor: torch.Tensor) -> str:
    """The elements in order."""
    return braced(repr(float(number)) + "f" for number in tensor.flatten())


def case(name: str, runs: list[tuple[tuple[torch.Tensor, ...], list[torch.Tensor]]]) -> str:
    """One entry of the .inc file: runs of one loaded method, one after the other."""
    lines = [f"{{{braced(map(floats, inputs))}, {braced(map(floats, outputs))}}}" for inputs, outputs in runs]
    separator = ",\n  "
    return f'{{"{name}", {{{separator.join(lines)}}}}},\n'


def export(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    """Writes the program of `module` to `path`."""
    edge = to_edge(torch.export.export(module, inputs))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["total"])])
    path.write_bytes(edge.to_executorch(config).buffer)


def main() -> None:
    folder = Path(sys.argv[1])
    cases = ""
    x = torch.tensor([1.5, -2.0])
    y = torch.tensor([[0.25, 3.0, -1.0], [-4.0, -6.0, -5.5]])

    branch = Branch()
    export(branch, (x, torch.tensor(True)), folder / "branch.pte")
    runs = []
    for condition in [True, False, True]:
        inputs = (x, torch.tensor(condition))
        runs.append((inputs, [branch(*inputs)]))
    cases += case("branch", runs)

    several = SeveralOuts()
    export(several, (y,), folder / "several_outs.pte")
    cases += case("several_outs", [((y,), list(several(y))), ((-y,), list(several(-y)))])

    export(State(), (x,), folder / "state.pte")
    eager = State()
    cases += case("state", [((x,), [eager(x)]), ((2 * x,), [eager(2 * x)])])
    (folder / "exported_programs.inc").write_text(cases)


if __name__ == "__main__":
    main()
