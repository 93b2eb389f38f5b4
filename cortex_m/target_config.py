"""What a program is compiled for: the core, and the widest instruction set its kernels may use.

    config = CortexMTargetConfig(CortexM.M55)
    config.backend        -> Backend.MVE
    config.target_string  -> "cortex-m55"
    CortexMTargetConfig.from_target_string("cortex-m4").backend -> Backend.DSP

The table of cores is `cores.bzl` beside this file, which Bazel loads too; it is read here as a Python literal.
"""

import ast
import enum
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional


class CortexM(enum.Enum):
    """The supported cores; values count in the order of the architecture's history."""

    M0 = 0
    M0PLUS = 1
    M3 = 2
    M4 = 3
    M7 = 4
    M23 = 5
    M33 = 6
    M35P = 7
    M55 = 8
    M85 = 9


class Backend(enum.IntEnum):
    """Instruction sets the kernels are written for, widest first."""

    MVE = 0
    DSP = 1
    SCALAR = 2


@lru_cache(maxsize=1)
def _cores() -> dict[str, dict[str, Any]]:
    """The table `CORES` of cores.bzl, keyed by platform name."""
    path = Path(__file__).absolute().parent / "cores.bzl"
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == "CORES":
            return ast.literal_eval(statement.value)
    raise ValueError(f"{path} assigns no literal CORES")


def _core(cpu: CortexM) -> dict[str, Any]:
    for entry in _cores().values():
        if entry["enum"] == cpu.name:
            return entry
    raise ValueError(f"cores.bzl has no entry for {cpu.name}")


@dataclass(frozen=True)
class CortexMTargetConfig:
    """A core and, optionally, a narrower instruction set than the core offers.

    Raises ValueError when `isa` is wider than what the core has.
    """

    cpu: CortexM
    isa: Optional[Backend] = None

    def __post_init__(self) -> None:
        if self.isa is None:
            return
        widest = Backend[_core(self.cpu)["isa"]]
        if Backend(self.isa) < widest:
            raise ValueError(
                f"{self.target_string} has no {Backend(self.isa).name}; its widest instruction set is {widest.name}"
            )

    @property
    def backend(self) -> Backend:
        """The instruction set that kernels, and so the sizes of their scratch buffers, are chosen for."""
        return Backend[_core(self.cpu)["isa"]] if self.isa is None else Backend(self.isa)

    @property
    def target_string(self) -> str:
        """The name a user writes, like "cortex-m55"."""
        return _core(self.cpu)["target"]

    @classmethod
    def from_target_string(cls, target: str) -> "CortexMTargetConfig":
        """The configuration of a name like "cortex-m55"; ValueError lists the known names."""
        for entry in _cores().values():
            if entry["target"] == target:
                return cls(CortexM[entry["enum"]])
        known = ", ".join(entry["target"] for entry in _cores().values())
        raise ValueError(f"unknown target {target!r}; known targets: {known}")
