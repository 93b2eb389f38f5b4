"""Exports calls, and says what became of each: the numbers on this machine and on a Cortex-M55 against PyTorch in float.

A call is calibrated on some samples and judged on another one.
"""

from __future__ import annotations

import copy
import math
import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch.utils import _pytree as pytree

import cortex_m
from cortex_m.export import ExportResult, ModelSource, export_model
from cortex_m.host.program import Program
from cortex_m.test.catalogue.case import Call
from cortex_m.test.device import Device

INT8_FLOOR_DB = 20.0
FLOAT_FLOOR_DB = 100.0
_PACKAGE = str(Path(cortex_m.__file__).parent)
_POSITION = re.compile(r"(?:/\S*/)?([\w.]+\.py)(?::\d+)?")


@dataclass(frozen=True)
class Row:
    """What became of one name.

    state: "int8"; "partly int8", where some operators stay float; "float"; "exact", where nothing is computed on floats;
        "refused", by one of our sentences; "traceback", by another error.
    sqnr_db: of the worst float output; inf if all are equal; None if nothing ran.
    reason: why it is not int8; of a traceback its last line.
    fault: what is wrong; "" for a row that is right.
    """

    name: str
    state: str
    sqnr_db: float | None = None
    reason: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Exported:
    """A row whose program still has to run on the device: its bytes, inputs and the host's outputs."""

    row: Row
    program: bytes
    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]


def rows(calls: Sequence[Call], device: Device, floor_db: float = INT8_FLOOR_DB) -> list[Row]:
    """A row for each call; the device is started once. floor_db: what is wrong of int8 below it."""
    done = [export(call, floor_db) for call in calls]
    programs = [(number, item) for number, item in enumerate(done) if isinstance(item, Exported)]
    found = [item.row if isinstance(item, Exported) else item for item in done]
    results = device.run([(item.program, item.inputs) for _, item in programs], timeout=600)
    for (number, item), result in zip(programs, results, strict=True):
        fault = result.error or _difference(result.outputs, item.outputs, "the device", "the host")
        if fault and not item.row.fault:
            found[number] = replace(item.row, fault=fault)
    return found


def export(call: Call, floor_db: float = INT8_FLOOR_DB) -> Exported | Row:
    """A Row if the call is refused or fails, else what has to be run on the device."""
    module, samples = call.module(), call.samples()
    want = _leaves(copy.deepcopy(module)(*_copy(samples[-1])))
    try:
        result = export_model(ModelSource(module, _copy(samples[0]), calibration=list(map(_copy, samples[:-1]))))
        return _run(call.name, result, samples[-1], want, floor_db)
    except Exception as error:  # noqa: BLE001  (what kind it is, is the result)
        return _error(call.name, error)


def _run(
    name: str, result: ExportResult, sample: tuple[torch.Tensor, ...], want: list[torch.Tensor], floor_db: float
) -> Exported:
    host = Program(result.program)
    fault = _difference(host.run(result.inputs), result.expected, "the host", "the prediction")
    got = tuple(host.run(sample))
    state, reason = _state(result)
    sqnr = min((sqnr_db(a, b) for a, b in zip(want, got, strict=True)), default=math.inf)
    floor = floor_db if "int8" in state else FLOAT_FLOOR_DB
    if sqnr < floor and not fault:
        fault = f"{sqnr:.0f} dB"
    return Exported(Row(name, state, sqnr, reason, fault), result.program, sample, got)


def _state(result: ExportResult) -> tuple[str, str]:
    lowered = result.lowering_report
    int8 = any(instruction.op.startswith("cortex_m::") for instruction in lowered.instructions)
    if not lowered.refusals:
        return ("int8" if int8 else "exact"), ""
    reasons = [node.reason for node in result.quantizer_report.float_nodes] or [x.reason for x in lowered.refusals]
    return ("partly int8" if int8 else "float"), "; ".join(dict.fromkeys(map(_without_positions, reasons)))


def _error(name: str, error: Exception) -> Row:
    """Ours are ValueErrors that this package raises, in one sentence; a ProgramError says that what was exported is no program."""
    text = str(error).strip() or type(error).__name__
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    ours = isinstance(error, ValueError) and raised_in.startswith(_PACKAGE) and type(error).__name__ != "ProgramError"
    if ours and "\n" not in text:
        return Row(name, "refused", reason=_without_positions(text))
    line = f"{type(error).__name__}: {text.splitlines()[0]}"
    return Row(name, "traceback", reason=_without_positions(line), fault=line)


def sqnr_db(want: torch.Tensor, got: torch.Tensor) -> float:
    """Signal to noise; inf if equal. Integers, booleans, NaNs and infinities must be equal: -inf if they are not."""
    if want.shape != got.shape:
        return -math.inf
    if not want.is_floating_point():
        return math.inf if torch.equal(want, got.to(want.dtype)) else -math.inf
    want, got = want.detach().double(), got.double()
    finite = want.isfinite()
    if not torch.equal(want[~finite].nan_to_num(), got[~finite].nan_to_num()) or not got[finite].isfinite().all():
        return -math.inf
    noise = float((want - got)[finite].square().sum())
    signal = float(want[finite].square().sum())
    if noise == 0.0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def _difference(got: Sequence[torch.Tensor], want: Sequence[torch.Tensor], who: str, other: str) -> str:
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if not _same_bytes(torch.as_tensor(a), torch.as_tensor(b)):
            return f"output {number} of {who} is not {other}'s"
    return ""


def _same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return a.contiguous().numpy().tobytes() == b.contiguous().numpy().tobytes()


def _leaves(outputs: object) -> list[torch.Tensor]:
    return [value for value in pytree.tree_leaves(outputs) if value is not None]


def _copy(sample: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """A call may write to its inputs."""
    return tuple(value.clone() for value in sample)


def _without_positions(text: str) -> str:
    """Without folders, which differ from machine to machine, and numbers of source lines, which any edit moves."""
    return _POSITION.sub(r"\1", text)
