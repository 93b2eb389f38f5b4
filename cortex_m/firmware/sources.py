"""The texts that a model's library for a firmware is made of: header, source, assembly, shared arena.

All of them come from what `program_info` printed of the program (cortex_m/runtime/program_json.h) and, for scales and zero
points, the exporter's report. Raises Refused, with one sentence, for a program that cannot be such a library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from cortex_m.runner import generate, kernel_table
from cortex_m.runner.generate import Refused

_FOLDER = Path(__file__).parent

# C types of a tensor's elements, by the names of program_info.
_C_TYPES = {
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "half": "uint16_t",  # C has no portable name for it
    "float": "float",
    "double": "double",
    "bool": "bool",
}


def section_attribute(section: str) -> str:
    """The attribute that puts an object into a section, with a space before it; "" for no section. Raises Refused."""
    if not section:
        return ""
    return f' __attribute__((section("{checked_section(section)}")))'


def checked_section(section: str) -> str:
    """The name itself. Raises Refused for what is no name of a section."""
    if not re.fullmatch(r"[.\w]+", section):
        raise Refused(f"{section!r} is no name of a section: letters, digits, dots and underscores make one")
    return section


class Tensor:
    """An input or output of the method, as program_info and the exporter's report know it."""

    def __init__(self, kind: str, index: int, end: dict[str, Any], quantization: dict[str, Any] | None):
        if end["type"] != "tensor":
            raise Refused(f"{kind} {index} is a number ({end['type']}), and a library takes and gives tensors alone")
        self.kind = kind
        self.index = index
        self.c_type = _C_TYPES[end["dtype"]]
        self.dtype = end["dtype"]
        self.shape = end["sizes"]
        self.dim_order = end["dim_order"]
        self.bytes = end["nbytes"]
        self.size = 1
        for size in self.shape:
            self.size *= size
        self.quantization: dict[str, Any] = {}
        if quantization and quantization.get("scale") is not None:
            self.quantization = {"scale": float(quantization["scale"]), "zero_point": int(quantization["zero_point"])}

    def macros(self, c_name: str) -> list[str]:
        """#defines for C."""
        values = {
            "TYPE": self.c_type + ("  // the bits of an IEEE 754 half" if self.dtype == "half" else ""),
            "SIZE": self.size,
            "BYTES": self.bytes,
            "RANK": len(self.shape),
            "SHAPE": _initialiser(self.shape),
            "DIM_ORDER": _initialiser(self.dim_order),
        } | {name.upper(): _number(value) for name, value in self.quantization.items()}
        return [
            f"#define {c_name.upper()}_{self.kind.upper()}_{self.index}_{name} {value}"
            for name, value in values.items()
        ]

    def struct(self) -> list[str]:
        """The same as constants of C++."""
        lines = [
            "template <>",
            f"struct {self.kind.capitalize()}<{self.index}> {{",
            f"  using Type = {self.c_type};",
            f"  static constexpr size_t kSize = {self.size};",
            f"  static constexpr size_t kBytes = {self.bytes};",
            f"  static constexpr size_t kRank = {len(self.shape)};",
        ]
        if self.shape:  # an array needs an element
            lines += [
                f"  static constexpr int32_t kShape[] = {_initialiser(self.shape)};",
                f"  static constexpr uint8_t kDimOrder[] = {_initialiser(self.dim_order)};",
            ]
        if self.quantization:
            lines += [
                f"  static constexpr double kScale = {_number(self.quantization['scale'])};",
                f"  static constexpr int32_t kZeroPoint = {self.quantization['zero_point']};",
            ]
        return [*lines, "};"]

    def function(self, c_name: str, untyped: bool) -> str:
        """Its typed accessor. untyped: whether {c_name}_{kind}() returns void*: no cast stands where none is needed."""
        pointer = ("const " if self.kind == "output" else "") + f"{self.c_type}*"
        call = f"{c_name}_{self.kind}({self.index})"
        head = f"static inline {pointer} {c_name}_{self.kind}_{self.index}(void)"
        if not untyped:
            return f"{head} {{ return {call}; }}"
        return "\n".join(
            [
                "#ifdef __cplusplus",
                f"{head} {{ return static_cast<{pointer}>({call}); }}",
                "#else",
                f"{head} {{ return {call}; }}",
                "#endif",
            ]
        )


def _initialiser(numbers: list[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"


def _number(value: float) -> str:
    return f"({value})" if value < 0 else repr(value)


def tensors(kind: str, method: dict[str, Any], report: dict[str, Any] | None) -> list[Tensor]:
    """All inputs ("input") or outputs ("output") of the method. Raises Refused for one that is no tensor."""
    ends = method[kind + "s"]
    known = (report or {}).get(kind + "s", [])
    if len(known) != len(ends):  # a program of another exporter has no report
        known = [None] * len(ends)
    return [
        Tensor(kind, index, end, quantization)
        for index, (end, quantization) in enumerate(zip(ends, known, strict=True))
    ]


def common_type(all_tensors: list[Tensor]) -> str:
    types = {tensor.c_type for tensor in all_tensors}
    return types.pop() if len(types) == 1 else "void"


def names(c_name: str) -> dict[str, str]:
    """What all templates call the library. Raises Refused for what is no name in C."""
    if not re.fullmatch(r"[A-Za-z]\w*", c_name):
        raise Refused(f"{c_name!r} is no name that functions in C can begin with")
    return {"c_name": c_name, "upper": c_name.upper(), "guard": f"CORTEX_M_LIBRARY_{c_name.upper()}_H_"}


def header(
    c_name: str, label: str, program_bytes: int, method: dict[str, Any], report: dict[str, Any] | None, *,
    verify_at: str = "build", shared_with: Sequence[str] = (), shared_arena_bytes: int | None = None,
) -> str:  # fmt: skip
    """The text of the library's header. Raises Refused.

    shared_with: labels of all models of a shared arena, whose size is shared_arena_bytes; None for an arena of its own.
    """
    inputs, outputs = tensors("input", method, report), tensors("output", method, report)
    both = [*inputs, *outputs]
    sharing = ""
    if shared_with:
        sharing = (
            f"// The arena is shared by {', '.join(shared_with)}: write the inputs, run, and read the outputs of\n"
            "// one of them before the next.\n"
        )
    init_doc = {
        "init": "Checks the program, checksum and structure, and makes it ready. Again: starts anew. False: see {}_error().",
        "build": "Makes the program ready, which was checked when the image was built. Again: starts anew. False: see {}_error().",
    }[verify_at].format(c_name)
    needed = generate.arena_bytes(method)
    input_type, output_type = common_type(inputs), common_type(outputs)
    input_call, output_call = f"{c_name}_input(kIndex)", f"{c_name}_output(kIndex)"
    if input_type == "void":
        input_call = f"static_cast<typename Input<kIndex>::Type*>({input_call})"
    if output_type == "void":
        output_call = f"static_cast<const typename Output<kIndex>::Type*>({output_call})"
    return Template((_FOLDER / "library.h.template").read_text()).substitute(
        names(c_name),
        what=label,
        sharing=sharing,
        program_bytes=program_bytes,
        arena_bytes=needed if shared_arena_bytes is None else shared_arena_bytes,
        arena_needed_bytes=needed,
        arena_shared="" if shared_arena_bytes is None else "; one array for all models that share it",
        input_cast=input_call,
        output_cast=output_call,
        input_count=len(inputs),
        output_count=len(outputs),
        macros="".join("\n".join(tensor.macros(c_name)) + "\n" for tensor in both),
        init_doc=init_doc,
        input_type=input_type,
        output_type=output_type,
        typed="".join(tensor.function(c_name, input_type == "void") + "\n" for tensor in inputs)
        + "".join(tensor.function(c_name, output_type == "void") + "\n" for tensor in outputs),
        structs="".join("\n".join(tensor.struct()) + "\n" for tensor in both),
    )


def source(
    c_name: str, method: dict[str, Any], *,
    arena: str = "", arena_section: str = "", state_section: str = "", verify_at: str = "build",
) -> str:  # fmt: skip
    """The text of the library's source.

    arena: symbol of a shared arena, or "" for one of its own. Raises Refused.
    """
    headers, kernels = kernel_table.array(method["operators"])
    headers = sorted(
        {*headers, *(f"cortex_m/runtime/{name}.h" for name in ("embedded", "method", "method_buffers", "program"))}
    )
    total = generate.arena_bytes(method)
    planned, unplanned = generate.arena_spans(method, arena or "arena")
    own = (
        f"alignas(kDataAlignment) uint8_t arena[{total}]{section_attribute(arena_section)};"
        if total and not arena
        else ""
    )
    return Template((_FOLDER / "library.cc.template").read_text()).substitute(
        names(c_name),
        includes="\n".join(f'#include "{name}"' for name in headers),
        arena_declaration=f"extern uint8_t {arena}[];\n" if arena else "",
        arena_definition=own,
        sizes=generate.method_sizes(method),
        kernels="\n".join(kernels),
        kernel_table="{kKernels, sizeof kKernels / sizeof kKernels[0]}" if kernels else "{}",
        method=json.dumps(method["name"]),
        planned=", ".join(planned or ["{nullptr, 0}"]),
        planned_count=len(planned),
        unplanned=unplanned,
        state_section=section_attribute(state_section),
        load="LoadVerifiedAtBuild" if verify_at == "build" else "Load",
        verified_at_build="true" if verify_at == "build" else "false",
        input_type=common_type([Tensor("input", i, end, None) for i, end in enumerate(method["inputs"])]),
        output_type=common_type([Tensor("output", i, end, None) for i, end in enumerate(method["outputs"])]),
    )


def assembly(c_name: str, program: str, section: str, fingerprint: str) -> str:
    """The text of the assembler source that holds the program, whose path and fingerprint are given. Raises Refused."""
    section = checked_section(section) if section else f".rodata.{c_name}_pte"
    return Template((_FOLDER / "model.S.template").read_text()).substitute(
        names(c_name), program=program, section=section, fingerprint=fingerprint
    )


def shared_arena_bytes(sizes: Sequence[int]) -> int:
    """Size of the array for models that need `sizes`; an arena that none of them needs has one byte, as C wants."""
    return max([1, *sizes])


def arena_source(symbol: str, sizes: Sequence[int], section: str) -> str:
    """The text of a C source with the array. Raises Refused."""
    place = section_attribute(section)
    return (
        "// Generated: the largest of the arenas of the models that share it.\n"
        "#include <stdint.h>\n\n"
        f"__attribute__((aligned({generate.ALIGNMENT}))){place} uint8_t {symbol}[{shared_arena_bytes(sizes)}];\n"
    )


def check_arena_can_be_shared(method: dict[str, Any]) -> None:
    """Raises Refused for a program that keeps something in its arena from one run to the next."""
    if method["state_bytes"]:
        raise Refused(
            f"it keeps {method['state_bytes']} bytes of state in its arena from one run to the next, which another model "
            "would overwrite: it cannot share the arena"
        )
