"""What a runner costs on a core, and tables of what grew since that was recorded.

now = Figures(...)
write(Path("net_baseline.json"), "cortex_m55", now, cores=["cortex_m55", "cortex_m4"])
then = read(Path("net_baseline.json"), "cortex_m55")
print(flash_table(now, then))
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate


@dataclass(frozen=True)
class Figures:
    """Bytes and executed instructions of one runner on one core.

    compiler: what the ELF says of it; another one makes other code.
    flash: code, constants, model, and data (its initial values).
    symbols: the functions and constants in it, by size.
    ram: arena, method state, other data, and the stack as deep as it was used.
    load, inference: instructions before the first inference, and of one.
    layers: "0 cortex_m::quantize_per_tensor conv1" (index, operator, module) to instructions, in their order.
    """

    compiler: str
    flash: dict[str, int]
    symbols: dict[str, int]
    ram: dict[str, int]
    load: int
    inference: int
    layers: dict[str, int]

    @property
    def flash_bytes(self) -> int:
        return sum(self.flash.values())

    @property
    def ram_bytes(self) -> int:
        return sum(self.ram.values())


class BaselineError(ValueError):
    """The baseline does not serve; the message is one sentence."""


def write(path: Path, core: str, figures: Figures, cores: Sequence[str]) -> None:
    """Puts the figures of `core` into the file; what it has of cores that are not in `cores` goes."""
    recorded: dict[str, Any] = _load(path) if path.exists() else {}
    recorded[core] = asdict(figures)
    kept = {name: recorded[name] for name in sorted(recorded) if name in cores}
    path.write_text(json.dumps({"cores": kept}, indent=1) + "\n")


def read(path: Path, core: str) -> Figures:
    """The figures of `core`. Raises BaselineError for a file that is none or has nothing of it."""
    recorded = _load(path)
    if core not in recorded:
        raise BaselineError(f"the baseline {path} has nothing of {core}, only of {', '.join(recorded) or 'no core'}")
    try:
        return Figures(**recorded[core])
    except TypeError as error:
        raise BaselineError(f"the baseline {path} is not what this version records: {error}") from None


def _load(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text())["cores"])
    except FileNotFoundError:
        raise BaselineError(f"there is no baseline {path} yet") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BaselineError(f"{path} is no baseline: {error!r}") from None


def flash_table(now: Figures, then: Figures | None) -> str:
    """Flash by section and, below, the functions and constants that changed; without a baseline the largest ten."""
    tables = [_table("flash, bytes", _pairs(now.flash, then.flash if then else None), total=True)]
    pairs = _pairs(now.symbols, then.symbols if then else None)
    if then is None:
        largest = sorted(pairs, key=lambda row: -(row[2] or 0))[:10]
        tables.append(_table("the largest in code and constants, bytes", largest, whole=now.flash_bytes))
    else:
        changed = sorted(
            (row for row in pairs if row[1] != row[2]), key=lambda row: -abs((row[2] or 0) - (row[1] or 0))
        )
        if changed:
            tables.append(_table("what changed in code and constants, bytes", changed))
    return "\n\n".join(tables)


def ram_table(now: Figures, then: Figures | None) -> str:
    return _table("RAM, bytes", _pairs(now.ram, then.ram if then else None), total=True)


def layer_table(now: Figures, then: Figures | None) -> str:
    """Instructions layer by layer; the last row but the sum is what no layer spends, the executor's own."""
    rows = _align(now.layers, then.layers if then else None)
    own = now.inference - sum(now.layers.values())
    then_own = then.inference - sum(then.layers.values()) if then else None
    return _table("instructions of an inference", [*rows, ("between the layers", then_own, own)], total=True)


_Row = tuple[str, int | None, int | None]  # name, recorded, now; None for what is not there


def _pairs(now: dict[str, int], then: dict[str, int] | None) -> list[_Row]:
    names = [*now, *(name for name in then or {} if name not in now)]
    return [(name, (then or {}).get(name), now.get(name)) for name in names]


def _align(now: dict[str, int], then: dict[str, int] | None) -> list[_Row]:
    """Layers side by side. One that came or went moves the indices of the others: operator and module are what counts."""
    if then is None:
        return [(name, None, count) for name, count in now.items()]
    old, new = list(then.items()), list(now.items())
    key = lambda item: item[0].split(" ", 1)[1]
    rows: list[_Row] = []
    matcher = difflib.SequenceMatcher(a=[*map(key, old)], b=[*map(key, new)], autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            rows += [(name, before, count) for (_, before), (name, count) in zip(old[i:i_end], new[j:j_end])]
            continue
        rows += [(key((name, count)), count, None) for name, count in old[i:i_end]]
        rows += [(name, None, count) for name, count in new[j:j_end]]
    return rows


def _table(title: str, rows: Sequence[_Row], total: bool = False, whole: int | None = None) -> str:
    """One row a name: recorded, now, difference, percent. Without a baseline, now and its share of `whole`, or of the sum."""
    rows = list(rows)
    compared = any(row[1] is not None for row in rows)
    sums = [sum(before or 0 for _, before, _ in rows), sum(count or 0 for _, _, count in rows)]
    if total:
        rows.append(("total", sums[0] if compared else None, sums[1]))
    if not compared:
        whole = max(1, whole or sums[1])
        body = [[_short(name), f"{now or 0:,}", f"{100 * (now or 0) / whole:.1f} %"] for name, _, now in rows]
        headers, right = [title, "now", "share"], 2
    else:
        body = [[_short(name), _number(then), _number(now), *_difference(then, now)] for name, then, now in rows]
        headers, right = [title, "recorded", "now", "difference", ""], 4
    return tabulate(body, headers, disable_numparse=True, colalign=["left"] + ["right"] * right)


def _short(name: str) -> str:
    return name if len(name) <= 72 else name[:69] + "..."


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _difference(then: int | None, now: int | None) -> tuple[str, str]:
    change = (now or 0) - (then or 0)
    return (f"{change:+,}", percent(then or 0, now or 0)) if change else ("", "")


def percent(then: int, now: int) -> str:
    """ "+1.5 %"; "new" for what was nothing."""
    return f"{100 * (now - then) / then:+.1f} %" if then else "new"
