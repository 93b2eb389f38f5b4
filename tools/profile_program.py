"""Where a program's cycles go, by estimate: the blocks of the runner that cost most in an inference, with their instructions.

Examples:
  bazel run //tools:profile -- model.pte --core=cortex_m55
  bazel run //tools:profile -- model.pte --core=cortex_m4 --top=3

The inputs are zeros: what kernels cost hardly depends on values. docs/cycles.md says what the estimate leaves out. The ELF is
//cortex_m/runner:universal_int8_CORE, or the universal_CORE that was built last, or --runner.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from absl import app, flags

from tools.program_file import ToolError, core_flag, one_program, read_program, typed_path

FLAGS = flags.FLAGS
flags.DEFINE_string("core", "cortex_m55", "A platform to simulate.")
flags.DEFINE_integer("top", 10, "So many blocks are shown.", lower_bound=1)
flags.DEFINE_string("runner", None, "ELF of a universal runner for the core, instead of the one that is looked for.")
flags.DEFINE_float("timeout", 600, "Seconds after which the simulator is stopped.")


def _runner():
    from cortex_m.cycles import MissingLlvm
    from cortex_m.cycles.runner import CountingRunner

    built = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "bazel-bin", "cortex_m", "runner")
    elf = typed_path(FLAGS.runner) if FLAGS.runner else built / f"universal_{FLAGS.core}.elf"
    if FLAGS.runner and not elf.is_file():
        raise ToolError(f"--runner={FLAGS.runner}: there is no file {elf}")
    try:
        return CountingRunner(FLAGS.core, elf if elf.is_file() else None)
    except MissingLlvm as error:
        raise ToolError(str(error)) from error
    except FileNotFoundError as error:
        raise ToolError(
            f"there is no runner for {FLAGS.core}: bazel build //cortex_m/runner:universal_{FLAGS.core}, and run again"
        ) from error


def run(argv: list[str]) -> None:
    from cortex_m.simulator import MissingSimulator, SimulatorError, elf_size
    from cortex_m.test.batch import Job

    name = one_program(argv)
    FLAGS["core"].value = core_flag("core", FLAGS.core)
    data, info = read_program(name)
    method = info["methods"][0]
    if any(value["type"] != "tensor" for value in method["inputs"]):
        raise ToolError(f"{name}: an input is no tensor, and a profile has no value for it; take //tools:run --cycles")
    runner = _runner()
    job = Job(data, [bytes(value["nbytes"]) for value in method["inputs"]], len(method["outputs"]))
    try:
        (result,) = runner.run([job], FLAGS.timeout)
    except (SimulatorError, MissingSimulator) as error:
        raise ToolError(str(error)) from error
    if result.error is not None:
        raise ToolError(f"{name} on {FLAGS.core}: {result.error}")
    _, inference = runner.estimates()
    print(
        f"{name} on {FLAGS.core}: inference {inference.cycles:,.0f} cycles, an estimate (docs/cycles.md), of these "
        f"{inference.waits:,.0f} waiting for memory; {result.inference:,} instructions"
    )
    functions = elf_size.Functions(runner.runner)
    for found in inference.blocks[: FLAGS.top]:
        block = found.block
        name = functions.at(block.address)
        print(
            f"\n{found.cycles / inference.cycles:6.1%}  {name}: {found.cycles:,.0f} cycles, estimate; "
            f"{block.executions:,} times {block.instructions} instructions, {block.jumps:,} jumps"
        )
        for line in found.lines:
            print(f"    {line}")


def main(argv: list[str]) -> int:
    try:
        run(argv)
    except ToolError as error:
        print(f"profile: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
