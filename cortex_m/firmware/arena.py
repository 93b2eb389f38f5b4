"""Writes an arena for several models, of which one runs at a time: as large as the largest of them needs.

    arena.py --info=one.json --info=other.json --symbol=app_arena --section=.dtcm --source=app_arena.cc

Each --info is what `program_info` printed of a program. Refused with one sentence and exit status 1: a program that keeps
state in its arena from one run to the next.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from absl import app, flags

from cortex_m.firmware import sources
from cortex_m.runner import generate

_INFO = flags.DEFINE_multi_string("info", [], "What program_info printed; once for each model.")
_MODEL = flags.DEFINE_multi_string("model", [], "What errors call the model; once for each --info, in their order.")
_SYMBOL = flags.DEFINE_string("symbol", None, "Name of the array.", required=True)
_SECTION = flags.DEFINE_string("section", "", "Its section; empty for .bss.")
_SOURCE = flags.DEFINE_string("source", None, "C source to write.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1 or len(_INFO.value) != len(_MODEL.value):
        raise app.UsageError("each --info has its --model, and there are no other arguments")
    sizes = []
    subject = _SYMBOL.value
    try:
        for path, subject in zip(_INFO.value, _MODEL.value, strict=True):  # noqa: B007 (the handler below reads subject)
            method = generate.method_of(json.loads(Path(path).read_text()), None)
            sources.check_arena_can_be_shared(method)
            sizes.append(generate.arena_bytes(method))
        subject = _SYMBOL.value
        text = sources.arena_source(_SYMBOL.value, sizes, _SECTION.value)
    except generate.Refused as error:
        print(f"error: {subject}: {error}", file=sys.stderr)
        sys.exit(1)
    Path(_SOURCE.value).write_text(text)


if __name__ == "__main__":
    app.run(main)
