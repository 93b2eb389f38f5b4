"""Writes the sources of a model as a library for somebody's firmware, from what `program_info` printed of the model.

    library.py --info=program_info.json --kernels=available.txt --core=cortex_m55 --c_name=keywords --label=//app:keywords \\
        --program=ds_cnn.pte --header=keywords.h --source=keywords.cc --assembly=keywords_pte.S

The header has the functions of C and C++ and the numbers of the program; the source has buffers of exactly the size it
needs and a table of the kernels it calls; the assembly holds its bytes. A program that cannot be such a library is
refused with one sentence and exit status 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from absl import app, flags

from cortex_m.firmware import sources
from cortex_m.runner import generate
from cortex_m.target_config import CortexMTargetConfig

_INFO = flags.DEFINE_string("info", None, "What program_info printed.", required=True)
_KERNELS = flags.DEFINE_string("kernels", None, "Names of the available operators, one a line.", required=True)
_CORE = flags.DEFINE_string("core", "", "Platform of //platforms that it is compiled for; empty for any.")
_REPORT = flags.DEFINE_string("report", None, "The exporter's report, JSON: scales, zero points, layers.")
_METHOD = flags.DEFINE_string("method", None, "Method of the program; the first one if not given.")
_C_NAME = flags.DEFINE_string("c_name", None, "What names of functions and macros begin with.", required=True)
_LABEL = flags.DEFINE_string("label", "the program", "What comments and errors call the model.")
_PROGRAM = flags.DEFINE_string("program", None, "Path of the .pte for the assembler.", required=True)
_ARENA = flags.DEFINE_string("arena", "", "Symbol of a shared arena; empty for one of its own.")
_SHARED_WITH = flags.DEFINE_list("shared_with", [], "All models of the shared arena.")
_SHARED_INFO = flags.DEFINE_multi_string("shared_info", [], "What program_info printed of each of these.")
_ARENA_SECTION = flags.DEFINE_string(
    "arena_section", "", "Section of the arena; empty for the compiler's choice, .bss."
)
_MODEL_SECTION = flags.DEFINE_string("model_section", "", "Section of the program; empty for .rodata.")
_STATE_SECTION = flags.DEFINE_string("state_section", "", "Section of the runtime's state; empty for .bss.")
_VERIFY_AT = flags.DEFINE_enum("verify_at", "build", ["build", "init"], "When checksum and structure are checked.")
_HEADER = flags.DEFINE_string("header", None, "C and C++ header to write.", required=True)
_SOURCE = flags.DEFINE_string("source", None, "C++ source to write.", required=True)
_ASSEMBLY = flags.DEFINE_string("assembly", None, "Assembler source to write.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("there are no arguments but flags")
    info = json.loads(Path(_INFO.value).read_text())
    report = json.loads(Path(_REPORT.value).read_text()) if _REPORT.value else None
    try:
        if _CORE.value:
            generate.check_target(info, CortexMTargetConfig.from_platform(_CORE.value))
        method = generate.method_of(info, _METHOD.value)
        generate.check_kernels(method, set(Path(_KERNELS.value).read_text().split()), report)
        shared_arena_bytes = None
        if _ARENA.value:
            sources.check_arena_can_be_shared(method)
            methods = [generate.method_of(json.loads(Path(path).read_text()), None) for path in _SHARED_INFO.value]
            shared_arena_bytes = sources.shared_arena_bytes([generate.arena_bytes(each) for each in methods])
        common = {"verify_at": _VERIFY_AT.value}
        texts = {
            _HEADER.value: sources.header(
                _C_NAME.value,
                _LABEL.value,
                Path(_PROGRAM.value).stat().st_size,
                method,
                report,
                shared_with=_SHARED_WITH.value,
                shared_arena_bytes=shared_arena_bytes,
                **common,
            ),
            _SOURCE.value: sources.source(
                _C_NAME.value,
                method,
                arena=_ARENA.value,
                arena_section=_ARENA_SECTION.value,
                state_section=_STATE_SECTION.value,
                **common,
            ),
            _ASSEMBLY.value: sources.assembly(
                _C_NAME.value, _PROGRAM.value, _MODEL_SECTION.value, generate.fingerprint(Path(_PROGRAM.value))
            ),
        }
    except generate.Refused as error:
        print(f"error: {_LABEL.value}: {error}", file=sys.stderr)
        sys.exit(1)
    for path, text in texts.items():
        Path(path).write_text(text)


if __name__ == "__main__":
    app.run(main)
