"""Models and calibration samples from files, for those who do not write a Python function that returns them.

    source = load_pt2(Path("net.pt2"), calibration=Path("samples.npy"))
    result = export_model(source)

A .pt2 is what `torch.export.save` writes. It is a zip archive that torch unpickles parts of: load only files that you trust, as you
would run only programs that you trust. Calibration files hold numbers alone and are read without pickle.
"""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from cortex_m.export import Inputs, ModelError, ModelSource


def load_pt2(path: Path, calibration: Path | None = None) -> ModelSource:
    """The program in a .pt2 with the example inputs that were saved in it.

    Raises ModelError if the file is none, or was saved without example inputs; FileNotFoundError.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if not zipfile.is_zipfile(path):
        raise ModelError(
            f"{path} is no .pt2: torch.export.save writes a zip archive, and this is none or a part of one"
        )
    try:
        program = torch.export.load(path)
    except Exception as error:  # whatever the archive's parts lead to
        raise ModelError(f"{path} cannot be loaded by torch.export.load: {_first_line(error)}") from error
    if program.example_inputs is None:
        raise ModelError(
            f"{path} was saved without example inputs: export with them, torch.export.export(module, inputs)"
        )
    inputs, keywords = program.example_inputs
    if keywords:
        raise ModelError(
            f"{path} takes keyword arguments {sorted(keywords)}: export it with positional arguments alone"
        )
    source = ModelSource(program, tuple(inputs))
    return source if calibration is None else with_calibration(source, calibration)


def with_calibration(source: ModelSource, path: Path) -> ModelSource:
    """`source` with the samples of a file. Raises ModelError if it has samples already, or the file's are not for it."""
    if source.calibration:
        raise ModelError(f"{path}: the model brings {len(source.calibration)} calibration samples of its own")
    return dataclasses.replace(source, calibration=read_samples(path, source.example_inputs))


def read_samples(path: Path, example_inputs: Sequence[torch.Tensor]) -> list[Inputs]:
    """Calls of a model, from a .npy for a model of one input, or a .npz with an array for each input.

    The arrays of a .npz are arr_0, arr_1, ..., as np.savez(path, first, second) names them. An array has the dtype of its input and
    one of two shapes: that of the input with a dimension of samples in front; or that of the input with more of its first dimension,
    which is then cut into samples ([100, 3, 32, 32] are 100 samples for an input [1, 3, 32, 32]).
    Raises ModelError with what is wrong; FileNotFoundError.
    """
    arrays = _arrays(path)
    if len(arrays) != len(example_inputs):
        raise ModelError(f"{path} has {len(arrays)} arrays, and the model takes {len(example_inputs)} inputs")
    inputs = [
        _cut(array, example, f"{path}: array {i}") for i, (array, example) in enumerate(zip(arrays, example_inputs))
    ]
    counts = sorted({len(values) for values in inputs})
    if len(counts) > 1:
        raise ModelError(f"{path} has different numbers of samples for the inputs: {counts}")
    return list(zip(*inputs))


def _arrays(path: Path) -> list[np.ndarray]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return [loaded]
        names = [f"arr_{i}" for i in range(len(loaded.files))]
        if sorted(loaded.files) != sorted(names):
            raise ModelError(
                f"{path} has the arrays {loaded.files}: write it with np.savez(path, first_input, second_input, ...)"
            )
        return [loaded[name] for name in names]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path} is no .npy or .npz of numbers: {_first_line(error)}") from error


def _cut(array: np.ndarray, example: torch.Tensor, what: str) -> list[torch.Tensor]:
    try:
        values = torch.from_numpy(np.array(array))
    except TypeError as error:
        raise ModelError(f"{what} is {array.dtype}, which torch does not have") from error
    shape, wanted = tuple(values.shape), tuple(example.shape)
    if values.dtype != example.dtype:
        raise ModelError(f"{what} is {values.dtype}, and the input is {example.dtype}: convert it where it is written")
    if shape[1:] == wanted and len(values):
        return list(values)
    if len(shape) == len(wanted) > 0 and shape[1:] == wanted[1:] and shape[0] and shape[0] % wanted[0] == 0:
        return list(values.split(wanted[0]))
    raise ModelError(
        f"{what} has shape {shape}: samples for an input {wanted} are {('N', *wanted)}, or more of its first dimension"
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
