"""Runs a .pte on this machine or on a simulated core, with inputs from .npy files and images.

Examples:
  bazel run //tools:run -- model.pte --input=a.npy
  bazel run //tools:run -- model.pte --input=cat.png --resize --mean=0.485,0.456,0.406 --std=0.229,0.224,0.225 --top=5
  bazel run //tools:run -- model.pte --input=a.npy --input=b.npy --core=cortex_m55 --output=scores.npy --layers --cycles

An array has exactly the shape and dtype that the program takes: `bazel run //tools:inspect` says which. An image goes into a
float input [1, C, H, W], C 1 (grey) or 3 (RGB): pixels from 0 to 1, minus --mean, by --std. It is resized only with --resize:
the middle with the input's proportions, with anti-aliasing.
On a core, the ELF is //cortex_m/runner:universal_int8_CORE, or the universal_CORE that was built last, or --runner.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path

from absl import app, flags

from cortex_m.target_config import core_table
from tools.program_file import ToolError, core_flag, one_program, typed_path

FLAGS = flags.FLAGS
flags.DEFINE_multi_string("input", [], "A .npy or an image, one for each input of the program, in order.")
flags.DEFINE_string("core", "host", "host, or a core to simulate, cortex_m55.")
flags.DEFINE_string(
    "output", None, "File to write the outputs to: .npy for one, .npz for any number (arr_0, arr_1, ...)."
)
flags.DEFINE_integer("top", 0, "Print the so many largest values of each output with their indices.", lower_bound=0)
flags.DEFINE_bool("resize", False, "Fit images to the input's height and width.")
flags.DEFINE_list("mean", ["0"], "What is subtracted from pixels: one number, or one a channel.")
flags.DEFINE_list("std", ["1"], "What pixels are divided by then: one number, or one a channel.")
flags.DEFINE_bool("layers", False, "On a core: print the instructions of each layer.")
flags.DEFINE_bool("cycles", False, "On a core: print estimated cycles, too. Wants LLVM 19 or newer.")
flags.DEFINE_string("runner", None, "ELF of a universal runner for the core, instead of the one that is looked for.")
flags.DEFINE_float("timeout", 600, "Seconds after which the simulator is stopped.")


def read_input(text: str, spec):
    """What `spec`, an input of the program, takes from the file `text`. ToolError if that is something else."""
    import numpy as np

    from cortex_m.host.specs import NumberSpec

    path = typed_path(text)
    if not path.is_file():
        raise ToolError(f"--input={text}: there is no file {path}")
    if isinstance(spec, NumberSpec):
        raise ToolError(
            f"--input={text}: the program takes a {spec.kind.__name__} there, a constant of its export; use Python"
        )
    if path.suffix != ".npy":
        return _image(text, path, spec)
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ToolError(f"--input={text}: no .npy of numbers: {str(error).splitlines()[0]}") from error
    wanted = str(spec.dtype).removeprefix("torch.")
    if str(array.dtype) != wanted or array.shape != spec.shape:
        raise ToolError(
            f"--input={text}: it has {array.dtype} {array.shape}, and the program takes {wanted} {spec.shape}: save it so"
        )
    return array


def _image(text: str, path: Path, spec):
    import numpy as np
    import torch
    from PIL import Image, UnidentifiedImageError

    if spec.dtype != torch.float32 or len(spec.shape) != 4 or spec.shape[0] != 1 or spec.shape[1] not in (1, 3):
        raise ToolError(
            f"--input={text}: the program takes {str(spec.dtype).removeprefix('torch.')} {spec.shape}, and an image is float32 "
            "(1, 1 or 3, H, W): give a .npy"
        )
    _, channels, height, width = spec.shape
    try:
        with Image.open(path) as file:
            image = file.convert("L" if channels == 1 else "RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise ToolError(f"--input={text}: neither a .npy nor an image that can be read ({error})") from error
    if image.size != (width, height):
        if not FLAGS.resize:
            raise ToolError(
                f"--input={text}: the image is {image.width}x{image.height}, the input {width}x{height}: add --resize"
            )
        image = _resized(image, width, height)
    pixels = np.asarray(image, np.float32).reshape(height, width, channels).transpose(2, 0, 1) / np.float32(255)
    mean, std = (_numbers(name, channels) for name in ("mean", "std"))
    return ((pixels - mean) / std)[None].astype(np.float32)


def _resized(image, width: int, height: int):
    """The largest middle part with the proportions of width and height, in that size."""
    from PIL import Image

    scale = max(width / image.width, height / image.height)
    part = width / scale, height / scale
    left, top = (image.width - part[0]) / 2, (image.height - part[1]) / 2
    return image.resize((width, height), Image.Resampling.BICUBIC, (left, top, left + part[0], top + part[1]))


def _numbers(name: str, channels: int):
    import numpy as np

    given: list[str] = getattr(FLAGS, name)
    try:
        numbers = [float(text) for text in given]
    except ValueError:
        raise ToolError(f"--{name}={','.join(given)}: numbers, separated by commas") from None
    if len(numbers) not in (1, channels) or (name == "std" and 0 in numbers):
        raise ToolError(
            f"--{name}={','.join(given)}: one number, or {channels}, one for each channel{', none of them 0' if name == 'std' else ''}"
        )
    return np.array(numbers, np.float32).reshape(-1, 1, 1)


def _device():
    """The universal runner of --core. ToolError if there is none, with how to build it."""
    from cortex_m.cycles.runner import CountingRunner
    from cortex_m.test.batch import BatchRunner

    batch = CountingRunner if FLAGS.cycles else BatchRunner

    name = f"universal_{FLAGS.core}"
    built = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "bazel-bin", "cortex_m", "runner", f"{name}.elf")
    if FLAGS.runner:
        runner = typed_path(FLAGS.runner)
        if not runner.is_file():
            raise ToolError(f"--runner={FLAGS.runner}: there is no file {runner}")
        return batch(FLAGS.core, runner)
    try:
        return batch(FLAGS.core, built if built.is_file() else None)
    except FileNotFoundError as error:
        raise ToolError(
            f"there is no runner for {FLAGS.core}: bazel build //cortex_m/runner:{name}, and run again"
        ) from error


def _simulate(name: str, program, data: bytes, inputs: list):
    """Outputs of the device, what it measured, and with --cycles the Estimates of loading, inference and layers."""
    from cortex_m.cycles import MissingLlvm
    from cortex_m.simulator import MissingSimulator, SimulatorError
    from cortex_m.test.device import Device

    if program.target is not None and not program.target.runs_on(_core()):
        raise ToolError(f"{name} was exported for {program.target}: {FLAGS.core} does not run it")
    import torch

    tensors = [torch.from_numpy(value) for value in inputs]
    try:
        runner = _device()
        (result,) = Device(FLAGS.core, batch=runner).run([(data, tensors)], FLAGS.timeout, layers=FLAGS.layers)
        estimates = runner.estimates() if FLAGS.cycles and result.error is None else []
    except (SimulatorError, MissingSimulator, MissingLlvm) as error:
        raise ToolError(str(error)) from error
    if result.error is not None:
        hint = ""
        if "kernel" in result.error:
            hint = f": bazel build //cortex_m/runner:universal_{FLAGS.core}, which has all kernels, and run again"
        raise ToolError(f"{name} on {FLAGS.core}: {result.error}{hint}")
    return list(result.outputs), result, estimates


def _core():
    from cortex_m.target_config import CortexM

    return CortexM[core_table()[FLAGS.core]["enum"]]


def _print_outputs(outputs: list) -> None:
    import torch

    for number, value in enumerate(outputs):
        if not isinstance(value, torch.Tensor):
            print(f"output {number}: {value}")
            continue
        name = f"output {number}: {str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
        real = value.double()
        print(f"{name}, from {real.min():.6g} to {real.max():.6g}, mean {real.mean():.6g}" if value.numel() else name)
        if FLAGS.top and value.numel():
            values, indices = real.flatten().topk(min(FLAGS.top, value.numel()))
            for index, largest in zip(indices.tolist(), values.tolist()):
                print(f"  {index:6d}  {largest:.6g}")


def _write(outputs: list) -> None:
    import numpy as np

    arrays = [np.asarray(value) for value in outputs]
    path = typed_path(FLAGS.output)
    try:
        if path.suffix == ".npy":
            np.save(path, np.ascontiguousarray(arrays[0]))
        else:
            np.savez(path, *arrays)
    except OSError as error:
        raise ToolError(f"--output={FLAGS.output}: cannot be written: {error.strerror}") from error


def _check_flags() -> None:
    FLAGS["core"].value = core_flag("core", FLAGS.core, host=True)
    if FLAGS.core == "host" and (FLAGS.layers or FLAGS.runner or FLAGS.cycles):
        raise ToolError(
            "--layers, --cycles and --runner are for a core: the host counts no instructions, so add --core=cortex_m55, say"
        )
    if FLAGS.output and Path(FLAGS.output).suffix not in (".npy", ".npz"):
        raise ToolError(f"--output={FLAGS.output}: name a .npy or a .npz")


def run(argv) -> None:
    name = one_program(argv)
    _check_flags()
    path = typed_path(name)
    if not path.is_file():
        raise ToolError(f"there is no file {path}; name a .pte, relative to the folder you stand in or from the root")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    from cortex_m.host import Program, ProgramError

    data = path.read_bytes()
    try:
        program = Program(data)
    except ProgramError as error:
        raise ToolError(f"{name} is refused: {error}. Export the model again, or copy the file again") from error
    if len(FLAGS.input) != len(program.inputs):
        takes = "; ".join(f"{number}: {_described(spec)}" for number, spec in enumerate(program.inputs)) or "none"
        raise ToolError(
            f"{name} takes {len(program.inputs)} inputs, and {len(FLAGS.input)} are given with --input: {takes}"
        )
    if FLAGS.output and FLAGS.output.endswith(".npy") and len(program.outputs) != 1:
        raise ToolError(f"--output={FLAGS.output}: the program has {len(program.outputs)} outputs: name a .npz")
    inputs = [read_input(text, spec) for text, spec in zip(FLAGS.input, program.inputs)]
    if FLAGS.core == "host":
        outputs, measured, estimates = program.run(inputs), None, []
    else:
        outputs, measured, estimates = _simulate(name, program, data, inputs)
    print(f"{name} on {FLAGS.core}")
    _print_outputs(outputs)
    if measured is None:
        print(f"arena: {sum(program.planned_bytes):,} bytes")
    else:
        print(
            f"instructions, simulated, not cycles: inference {measured.inference:,}, load and verify {measured.load:,}"
        )
        if estimates:
            load, inference, *_ = estimates
            print(
                f"cycles, estimate (docs/cycles.md): inference {inference.cycles:,.0f}, of these {inference.waits:,.0f} waiting for "
                f"memory, load and verify {load.cycles:,.0f}"
            )
        print(f"arena: {measured.arena:,} bytes, runtime's tables: {measured.state:,} bytes")
        of_layers = (
            estimates[2:] if len(estimates) == 2 + len(measured.layers) else []
        )  # a loop runs some several times
        for number, layer in enumerate(measured.layers):
            cycles = f" {of_layers[number].cycles:>12,.0f} cycles, estimate" if of_layers else ""
            print(f"  {layer.index:4d}  {layer.op:44} {layer.instructions:>12,}{cycles}")
    if FLAGS.output:
        _write(outputs)


def _described(spec) -> str:
    from cortex_m.host.specs import NumberSpec

    return (
        spec.kind.__name__ if isinstance(spec, NumberSpec) else f"{str(spec.dtype).removeprefix('torch.')} {spec.shape}"
    )


def main(argv) -> int:
    try:
        run(argv)
    except (ToolError, ValueError) as error:
        print(f"run: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
