"""docs/portable_ops.md: which operators of PyTorch run on the device without being lowered."""

from __future__ import annotations

from torchgen.model import SchemaKind

from cortex_m.portable import schemas

_TYPES = {
    "any": "any",
    "all": "float32, integers, bool",
    "numbers": "float32, integers",
    "integers": "integers, bool",
    "float": "float32",
    "promoted": "float32; integers, bool → float32",
}
_RESULTS = {
    "same": "the same bits",
    "rounded": "as IEEE 754",
    "nearest": "nearest float32",
    "sum": "sum in order",
}

_HEAD = """<!-- Made by `python -m cortex_m.portable.codegen document docs/portable_ops.md`; codegen_test compares. Do not edit. -->

# Portable operators

What the exporter does not lower to an int8 operator runs on these kernels (`cortex_m/portable`): C++17 without heap, on every
core, one file a family, linked only when a model calls them. They take any `dim_order` (sizes and the order of dimensions in
memory), broadcasting, tensors without elements and ranks 0 to 16. What a kernel cannot do it refuses with a sentence. They use
no memory but their arguments and at most 5 KiB of stack.

**Element types.** *integers*: int8, uint8, int16, int32, int64. *any*: whatever has 1, 2, 4 or 8 bytes, for the elements are only
moved. Operands of different types are promoted as PyTorch does. float16 and float64 are refused.

**Results.** The same on every core and on the host, to the bit. Against PyTorch on a CPU:

| | |
| --- | --- |
| the same bits | integers always; floats where each element is one IEEE 754 operation, or none |
| as IEEE 754 | each operation rounded by itself (PyTorch's own sqrt is one unit in the last place off for some inputs) |
| nearest float32 | computed in float64 and rounded once: at most 0.5001 units in the last place from the true value, where PyTorch is up to 2 off; integers have the same bits |
| sum in order | float32 sums of a stated order: reductions are compensated (2 units of the sum of magnitudes, however many terms), products and convolutions plain (count × 2⁻²⁴ of the sum of magnitudes at most); integers have the same bits |

"""


def _key(func) -> object:
    """What a functional operator and its out form have in common."""
    return func.signature(strip_default=True, strip_view_copy_name=True)


def _out_forms() -> dict[object, list[str]]:
    forms: dict[object, list[str]] = {}
    for name, function in schemas.native_functions().items():
        if function.func.kind() is SchemaKind.out:
            forms.setdefault(_key(function.func), []).append(name)
    return forms


def _details(name: str) -> tuple[str, str, str]:
    for family in schemas.families():
        if name in family.operators:
            return _TYPES[family.types[name]], _RESULTS[family.result], f"{family.file}.cc"
    raise KeyError(name)


def core_operators() -> dict[str, list[str]]:
    """Each operator that torch tags as core ATen, and its forms that write to an out tensor."""
    forms = _out_forms()
    core = [f for f in schemas.native_functions().values() if "core" in f.tags]
    return {
        f"aten::{f.func.name}": forms.get(_key(f.func), [])
        for f in sorted(core, key=lambda f: str(f.func.name).lstrip("_"))
    }


def document() -> str:
    """The whole file."""
    ours = set(schemas.operators())
    core = core_operators()
    with_kernel = {name: [form for form in forms if form in ours] for name, forms in core.items()}
    count = sum(1 for forms in with_kernel.values() if forms)
    lines = [
        _HEAD
        + f"## Core ATen operators\n\n{count} of the {len(core)} operators that torch tags as core have a kernel.\n",
        "| operator | kernel | element types | against PyTorch | file |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, forms in with_kernel.items():
        short = name.removeprefix("aten::")
        if not forms:
            lines.append(f"| {short} | none | | | |")
        lines += [f"| {short} | {form} | {' | '.join(_details(form))} |" for form in forms]
    rest = [name for name in schemas.operators() if not any(name in forms for forms in with_kernel.values())]
    lines += ["", "## Others", "", "| kernel | element types | against PyTorch | file |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {' | '.join(_details(name))} |" for name in rest]
    return "\n".join(lines) + "\n"
