"""What a program is compiled for: the core, and the widest instruction set its kernels may use; or any core.

    config = CortexMTargetConfig(CortexM.M55)
    config.backend        -> Backend.MVE
    config.target_string  -> "cortex-m55"
    CortexMTargetConfig.from_target_string("cortex-m4").backend -> Backend.DSP
    CortexMTargetConfig.any().backends -> (Backend.MVE, Backend.DSP, Backend.SCALAR)

The table of cores is `cores.bzl` beside this file, which Bazel loads too; it is read here as a Python literal.
"""

import ast
import enum
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any


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
def core_table() -> dict[str, dict[str, Any]]:
    """The table `CORES` of cores.bzl, keyed by platform name."""
    path = Path(__file__).absolute().parent / "cores.bzl"
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == "CORES":
            return ast.literal_eval(statement.value)
    raise ValueError(f"{path} assigns no literal CORES")


def platform_of(core: str) -> str:
    """The platform, "cortex_m55", of a core in any of its spellings: cortex_m55, cortex-m55, m55.

    Raises ValueError for a core that is not known.
    """
    wanted = core.replace("-", "_")
    for platform in core_table():
        if wanted in (platform, platform.removeprefix("cortex_")):
            return platform
    raise ValueError(f"there is no core {core}; there are {', '.join(core_table())}")


def _core(cpu: CortexM) -> dict[str, Any]:
    for entry in core_table().values():
        if entry["enum"] == cpu.name:
            return entry
    raise ValueError(f"cores.bzl has no entry for {cpu.name}")


@dataclass(frozen=True)
class CortexMTargetConfig:
    """A core and, optionally, a narrower instruction set than the core offers.

    A program with a core runs on cores that have its instruction set, or its core's (`runs_on`). Without a core, `any()`, it
    runs on every one, with the plain operators alone: its scratch buffers have the largest size that one of them wants.

    portable_program: the program has no operators whose weights are packed for the kernels of the target's core, but the plain
    ones alone, which every core's kernels and ExecuTorch's own backend know. A program for any core never has others.

    Raises ValueError when `isa` is wider than what the core has, or given without a core; TypeError for a `cpu` that is none.
    """

    cpu: CortexM | None
    isa: Backend | None = None
    portable_program: bool = False

    def __post_init__(self) -> None:
        if self.cpu is not None and not isinstance(self.cpu, CortexM):
            raise TypeError(f"{self.cpu!r} is no CortexM; from_target_string() takes names")
        if self.isa is None:
            return
        if self.cpu is None:
            raise ValueError("an instruction set is that of a core, and there is none")
        widest = Backend[_core(self.cpu)["isa"]]
        if Backend(self.isa) < widest:
            raise ValueError(
                f"{self.target_string} has no {Backend(self.isa).name}; its widest instruction set is {widest.name}"
            )

    @classmethod
    def any(cls) -> "CortexMTargetConfig":
        """Every core."""
        return cls(None)

    @classmethod
    def from_platform(cls, platform: str) -> "CortexMTargetConfig":
        """The core of a platform of //platforms, "cortex_m55", in any spelling. Raises ValueError if there is none."""
        return cls(CortexM[core_table()[platform_of(platform)]["enum"]])

    @property
    def backend(self) -> Backend:
        """The instruction set that kernels are chosen for. Raises ValueError for `any()`, which has no single one."""
        if len(self.backends) > 1:
            raise ValueError("a program for any core has no one instruction set; `backends` has all of them")
        return self.backends[0]

    @property
    def backends(self) -> tuple[Backend, ...]:
        """The instruction sets that the sizes of scratch buffers must do for."""
        if self.cpu is None:
            return tuple(Backend)
        return (Backend[_core(self.cpu)["isa"]] if self.isa is None else Backend(self.isa),)

    @property
    def packs_weights(self) -> bool:
        """Whether a program may have operators that only this instruction set's kernels know."""
        return self.cpu is not None and not self.portable_program

    @property
    def target_string(self) -> str:
        """The name a user writes, like "cortex-m55"; "any" for every core."""
        return "any" if self.cpu is None else _core(self.cpu)["target"]

    def __str__(self) -> str:
        return "any core" if self.cpu is None else f"{self.target_string} ({self.backend.name})"

    def runs_on(self, core: CortexM) -> bool:
        """Whether a program for this target is one for `core`."""
        if self.cpu is None:
            return True
        return Backend[_core(core)["isa"]] in (self.backend, Backend[_core(self.cpu)["isa"]])

    @classmethod
    def from_target_string(cls, target: str) -> "CortexMTargetConfig":
        """The configuration of a core in any spelling, "cortex-m55", or of "any"; ValueError lists the known names."""
        if target == "any":
            return cls.any()
        try:
            return cls.from_platform(target)
        except ValueError:
            known = ", ".join(entry["target"] for entry in core_table().values())
            raise ValueError(f"unknown target {target!r}; known targets: {known}, and any") from None
