"""What stayed float, in a few lines for the person who wrote the model: by place, with reasons, and the line that permits it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_m.passes.report import Refusal

# What follows from something else that stayed float, and says no more.
_CONSEQUENCES = ("is not quantized", "no lowering to a cortex_m op is registered for it")
# Operators and reasons that one place names; the report has all of them.
_MAX_NAMED = 4


def refusal_text(refusals: Sequence[Refusal], causes: Mapping[str, Sequence[str]] | None = None) -> str:
    """A line for each module and source line, and `allow_fallback = [...]` as the flag takes it.

    causes: by source line, "net.py:12", why the quantizer left something float there. They stand instead of reasons that merely
    follow from that: an input is not quantized, no operator takes floats.
    """
    places: dict[tuple[str, str], list[Refusal]] = {}
    for refusal in refusals:
        places.setdefault((refusal.source, refusal.module), []).append(refusal)
    lines = [_place(*place, found, (causes or {}).get(place[0].split(",")[0], ())) for place, found in places.items()]
    names = sorted({qualified(refusal.op) for refusal in refusals})
    return "\n".join([*lines, f"To let them run in float: allow_fallback = {json.dumps(names)}"])


def _place(source: str, module: str, refusals: list[Refusal], causes: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for refusal in refusals:
        counts[qualified(refusal.op)] = counts.get(qualified(refusal.op), 0) + 1
    operators = [f"{name} x{count}" if count > 1 else name for name, count in counts.items()]
    reasons = dict.fromkeys(refusal.reason for refusal in refusals)
    own = [reason for reason in reasons if not reason.endswith(_CONSEQUENCES)]
    reasons_to_say = own or list(causes) or list(reasons)
    return f"  {source}{f' ({module})' if module else ''}: {_some(operators, ', ')}: {_some(reasons_to_say, '; ')}"


def _some(items: Sequence[str], between: str) -> str:
    more = len(items) - _MAX_NAMED
    return between.join(items[:_MAX_NAMED]) + (f"{between}{more} more" if more > 0 else "")


def qualified(op: str) -> str:
    """ "aten::cumsum" of "aten.cumsum.default", as a Refusal has it."""
    return "::".join(op.split(".")[:2])
