"""Exports a PyTorch model to a .pte for a Cortex-M.

The model is a function without arguments in a Python file, which returns a `cortex_m.ModelSource` or a tuple
(module, example_inputs); or a .pt2 that torch.export.save wrote. torch unpickles parts of a .pt2: load only files you trust.

Examples:
  bazel run //tools:export -- --entry=$PWD/net.py:model --program=$PWD/net.pte
  bazel run //tools:export -- --entry=$PWD/net.py:model --program=$PWD/net.pte --target=cortex-m4 \\
      --report=$PWD/net.txt --vectors=$PWD/net_vectors
  bazel run //tools:export -- --pt2=net.pt2 --calibration=samples.npy --program=net.pte --strict --allow_fallback=aten::cumsum
"""

import dataclasses
import importlib.util
import json
import logging
import math
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

from absl import app, flags

from cortex_m.target_config import CortexMTargetConfig

FLAGS = flags.FLAGS
flags.DEFINE_string("entry", None, "FILE.py:FUNCTION that returns the model.")
flags.DEFINE_string("pt2", None, "The model as a file of torch.export.save, instead of --entry.")
flags.DEFINE_string(
    "calibration",
    None,
    "Samples that set the value ranges: a .npy [N, ...] of the one input, or a .npz of np.savez with an array for each input.",
)
flags.DEFINE_string("program", None, "The .pte to write.")
flags.DEFINE_string(
    "target", "any", "The core to export for, cortex-m0 to cortex-m85, or any: the same program for all."
)
flags.DEFINE_bool(
    "portable_program",
    False,
    "With a core as target: no operators with weights packed for its kernels, but the plain ones.",
)
flags.DEFINE_string("report", None, "Text report to write: what was quantized, what was lowered, what was not and why.")
flags.DEFINE_string("report_json", None, "The same for programs, with the layer of each instruction.")
flags.DEFINE_string("vectors", None, "Folder to write the example inputs, the expected and the float outputs to.")
flags.DEFINE_bool("strict", False, "Fail if an operator would run in float.")
flags.DEFINE_list(
    "allow_fallback", [], "With --strict: operators that may run in float all the same, aten::cumsum,aten::sort."
)
flags.DEFINE_bool(
    "quantize_io", True, "False: the program takes and gives int8 tensors; the reports name scales and zero points."
)
flags.DEFINE_string(
    "sqnr_floor_db",
    "",
    "Fail if an output has less signal to quantization noise, in dB; the model's own floor if empty.",
)
flags.DEFINE_bool("progress", True, "Say on standard error which step runs.")
flags.mark_flags_as_required(["program"])


class ExportError(Exception):
    """One sentence for the person at the terminal."""


def _path(text: str) -> Path:
    """`bazel run` changes the folder; what a person types is relative to where they stand."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), text)


def parse_entry(text: str) -> tuple[Path, str]:
    """File and function of FILE.py:FUNCTION."""
    file, colon, function = text.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise ExportError(f"--entry={text}: write it as FILE.py:FUNCTION")
    path = _path(file)
    if not path.is_file():
        raise ExportError(f"--entry={text}: there is no file {path}")
    return path, function


def parse_floor(text: str) -> float:
    """A number of decibels; minus infinity lets everything pass."""
    try:
        floor = float(text)
    except ValueError:
        floor = math.nan
    if math.isnan(floor):
        raise ExportError(f"--sqnr_floor_db={text}: write a number of decibels")
    return floor


def load_entry(path: Path, function: str):
    """The function of that name in a Python file, which may import what lies beside it or where the person stands."""
    sys.path += [str(path.parent), str(_path("."))]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ExportError(f"{path} is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ExportError(f"{path} cannot be imported: {error}") from error
    if not callable(getattr(module, function, None)):
        raise ExportError(f"{path} has no function {function}")
    return getattr(module, function)


def load_source(progress):
    """The ModelSource that --entry or --pt2 and --calibration name."""
    from cortex_m.export import ModelSource
    from cortex_m.saved_model import load_pt2, with_calibration

    calibration = _path(FLAGS.calibration) if FLAGS.calibration else None
    if FLAGS.pt2:
        progress(f"loading {FLAGS.pt2}")
        return load_pt2(_path(FLAGS.pt2), calibration)
    progress(f"building the model of {FLAGS.entry}")
    source = load_entry(*parse_entry(FLAGS.entry))()
    if not isinstance(source, ModelSource):
        if not isinstance(source, tuple) or len(source) != 2:
            raise ExportError(f"--entry={FLAGS.entry}: returned neither a ModelSource nor (module, example_inputs)")
        source = ModelSource(*source)
    return source if calibration is None else with_calibration(source, calibration)


def write_vectors(folder: Path, result) -> None:
    """Inputs and outputs as raw bytes in memory order, as the device reads and writes them, and what each is.

    vectors.json: {"input": [...], "expected": [...], "float": [...], "expected_again": [...], "evaluation": [...]}; the first
    four are of the example inputs, with an entry {"file", "shape", "dtype", "dim_order"} for each tensor, and each item of
    "evaluation" has three of one call. "expected_again" is what a second run must give, empty for a program without state.
    """
    from cortex_m.host.tensor_bytes import tensor_to_bytes

    def write(sample, prefix: str) -> dict:
        index: dict = {}
        kinds = [("input", sample.inputs), ("expected", sample.expected), ("float", sample.float_outputs)]
        if sample is result:
            kinds.append(("expected_again", result.expected_again))
        for kind, tensors in kinds:
            index[kind] = []
            for position, tensor in enumerate(tensors):
                name = f"{prefix}{kind}_{position}.bin"
                (folder / name).write_bytes(tensor_to_bytes(tensor))
                about = {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "dim_order": list(tensor.dim_order())}
                index[kind].append({"file": name, **about})
        return index

    folder.mkdir(parents=True, exist_ok=True)
    index = write(result, "")
    index["evaluation"] = [write(sample, f"evaluation_{number}_") for number, sample in enumerate(result.evaluation)]
    (folder / "vectors.json").write_text(json.dumps(index, indent=1) + "\n")


def hush() -> None:
    """Keeps what torch and torchao say of this machine, CUDA extensions and the like, off the terminal."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", FutureWarning)


def relative(report: str) -> str:
    """A report with the paths of source lines relative to the current folder, so that it is the same in every clone."""
    return report.replace(f"{Path.cwd()}/", "")


class Progress:
    """Prints each step as it begins, with the seconds since the start."""

    def __init__(self, enabled: bool):
        self._enabled, self._start = enabled, time.monotonic()

    def __call__(self, step: str) -> None:
        if self._enabled:
            print(f"[{time.monotonic() - self._start:6.1f} s] {step}", file=sys.stderr, flush=True)


def export(argv) -> None:
    if len(argv) > 1:
        raise ExportError(f"{argv[1]}: arguments are given as flags; see --help")
    # What can be wrong with the flags is said before torch's long import.
    if bool(FLAGS.entry) == bool(FLAGS.pt2):
        raise ExportError("the model is named by one of --entry and --pt2")
    if FLAGS.entry:
        parse_entry(FLAGS.entry)
    target = dataclasses.replace(
        CortexMTargetConfig.from_target_string(FLAGS.target), portable_program=FLAGS.portable_program
    )
    progress = Progress(FLAGS.progress)
    progress("importing torch")
    hush()
    import torch

    from cortex_m.export import export_model

    # The order of float additions, and with it the calibration, must not depend on the machine's number of cores.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    source = load_source(progress)
    if FLAGS.sqnr_floor_db:
        source = dataclasses.replace(source, sqnr_floor_db=parse_floor(FLAGS.sqnr_floor_db))
    result = export_model(
        source,
        target,
        strict=FLAGS.strict,
        allow_fallback=FLAGS.allow_fallback,
        quantize_io=FLAGS.quantize_io,
        progress=progress,
    )

    program = _path(FLAGS.program)
    program.write_bytes(result.program)
    summary = f"SQNR of the outputs against the float model, on the example inputs: {result.sqnr_db:.2f} dB"
    if FLAGS.report:
        text = f"{result.quantizer_report}\n{result.lowering_report}\n{result.memory}\n{summary}\n{result.loss}\n{result.accuracy}\n"
        _path(FLAGS.report).write_text(relative(text))
    if FLAGS.report_json:
        report = dict(result.lowering_report.to_json(), target=target.target_string, sqnr_db=result.sqnr_db)
        report["memory"] = result.memory.summary()
        report["loss"] = result.loss.to_json() if result.loss is not None else None
        report["warnings"] = result.quantizer_report.warnings
        report["accuracy"] = result.accuracy.to_json()
        _path(FLAGS.report_json).write_text(relative(json.dumps(report, indent=1)) + "\n")
    if FLAGS.vectors:
        write_vectors(_path(FLAGS.vectors), result)
    progress(str(result.memory))
    progress(str(result.loss))
    for warning in result.quantizer_report.warnings:
        print(f"export: warning: {relative(warning)}", file=sys.stderr)
    progress(f"wrote {program.name} for {target}, {len(result.program):,} bytes; {summary}")


def main(argv) -> int:
    try:
        export(argv)
    except (
        ExportError,
        FileNotFoundError,
        ValueError,
    ) as error:  # so are ModelError, LoweringError and a refused target
        if type(error).__name__ == "UserCodeError":  # imports no torch where the flags alone are wrong
            traceback.print_exception(error.__cause__)
        print(f"export: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
