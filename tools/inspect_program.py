"""Says what is in a .pte: target, inputs and outputs, memory, and each layer with its tensors, kernels and cost.

Reads programs of this repository's exporter and of others; the file is verified first, as a device would.

Examples:
  bazel run //tools:inspect -- model.pte
  bazel run //tools:inspect -- model.pte --core=cortex_m55        # the kernels that this core takes
  bazel run //tools:inspect -- model.pte --memory                 # every buffer: where it lies, and when
  bazel run //tools:inspect -- model.pte --json > model.json
"""

from __future__ import annotations

import json
import logging
import sys
import warnings

from absl import app, flags

from tools.program_file import ToolError, core_flag, one_program, read_program

FLAGS = flags.FLAGS
flags.DEFINE_string("method", None, "Method to look at; the first one if not given.")
flags.DEFINE_string(
    "core", None, "Platform, cortex_m55: name the kernels that this core takes. Without it, those of all."
)
flags.DEFINE_bool("memory", False, "Also list the buffers of the planned memory.")
flags.DEFINE_bool("json", False, "Print JSON for programs instead of tables.")


def _order(tensor) -> str:
    """The order in memory of a tensor that is not contiguous, for the end of a sentence."""
    if list(tensor.dim_order) == list(range(len(tensor.shape))):
        return ""
    return ", channels last" if list(tensor.dim_order) == [0, 2, 3, 1] else f", dim order {list(tensor.dim_order)}"


def _kernels(layer, core: str | None) -> str:
    """The kernel of one core, or those of all, each once."""
    from cortex_m.analysis.kernels import kernel_set

    if core is not None:
        return layer.kernels.get(kernel_set(core).name.lower(), "")
    names: dict[str, list[str]] = {}
    for kernels, name in layer.kernels.items():
        names.setdefault(name, []).append(kernels)
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} ({'/'.join(kernels)})" for name, kernels in names.items())


def _print_tables(name: str, facts, plan) -> None:
    from rich.console import Console, JustifyMethod
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 180, highlight=False, markup=False)
    made_for = facts.target or "not recorded (another exporter's program, or one without a seal)"
    console.print(
        f"{name}: {facts.file_bytes:,} bytes, method {facts.method} of {len(facts.methods)}, target {made_for}"
    )
    for label, tensors in (("input", facts.inputs), ("output", facts.outputs)):
        for number, tensor in enumerate(tensors):
            console.print(f"{label} {number}: {tensor}{_order(tensor)}, {tensor.bytes:,} bytes")
    console.print(
        f"{len(facts.layers)} instructions, {facts.macs:,} MACs, {facts.constant_bytes:,} bytes of constants; arena "
        f"{facts.arena_bytes:,} bytes, lower bound {plan.lower_bound:,} (at instruction {plan.peak_instruction})"
    )
    table = Table(title="Instructions", title_justify="left")
    columns: tuple[tuple[str, JustifyMethod], ...] = (
        ("#", "right"), ("operator", "left"), ("inputs", "left"), ("outputs", "left"), ("MACs", "right"),
        ("constants", "right"), ("scratch", "right"), ("kernel", "left"),
    )  # fmt: skip
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")
    for layer in facts.layers:
        table.add_row(
            str(layer.index), layer.op.removeprefix("cortex_m::"), "\n".join(map(str, layer.inputs)),
            "\n".join(map(str, layer.outputs)), "?" if layer.macs is None else f"{layer.macs:,}" if layer.macs else "",
            f"{layer.constant_bytes:,}" if layer.constant_bytes else "",
            f"{layer.scratch_bytes:,}" if layer.scratch_bytes else "", _kernels(layer, FLAGS.core),
        )  # fmt: skip
    console.print(table)
    if not FLAGS.memory:
        return
    table = Table(title="Planned memory", title_justify="left")
    columns = (
        ("buffer", "left"), ("tensor", "left"), ("memory", "right"), ("offset", "right"), ("bytes", "right"), ("lives", "right"),
    )  # fmt: skip
    for heading, justify in columns:
        table.add_column(heading, justify=justify)
    for buffer in sorted(plan.buffers, key=lambda buffer: (buffer.first, buffer.offset)):
        shape = "x".join(map(str, buffer.shape)) or "scalar"
        table.add_row(
            buffer.name if buffer.name.startswith(buffer.kind) else f"{buffer.kind}: {buffer.name}", f"{buffer.dtype} {shape}",
            str(buffer.memory_id), f"{buffer.offset:,}", f"{buffer.bytes:,}", f"{buffer.first} to {buffer.last}",
        )  # fmt: skip
    console.print(table)


def inspect(argv) -> None:
    name = one_program(argv)
    if FLAGS.core is not None:
        FLAGS["core"].value = core_flag("core", FLAGS.core)
    program, info = read_program(name)
    methods = [method["name"] for method in info["methods"]]
    if FLAGS.method not in (None, *methods):
        raise ToolError(f"{name} has no method {FLAGS.method}; it has {', '.join(methods)}")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    from cortex_m.analysis.layers import ProgramFacts
    from cortex_m.analysis.memory import MemoryPlan

    facts = ProgramFacts.of(program, FLAGS.method)
    plan = MemoryPlan.of(program, facts.method)
    if FLAGS.json:
        print(json.dumps(dict(facts.to_json(), memory=plan.to_json()), indent=1))
    else:
        _print_tables(name, facts, plan)


def main(argv) -> int:
    try:
        inspect(argv)
    except (ToolError, ValueError) as error:
        print(f"inspect: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # head, less
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    app.run(main)
