"""What a model is tested with: the bytes of its inputs, those its outputs must be, and what the float model gives.

program = read_program(Path("program_info.json"))
samples = from_vectors(Path("net.vectors"))                                 # the exporter's
samples = from_arrays(program, [Path("x.npy")], [Path("y.npy")], exact=True)    # one's own
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """One call of a program.

    inputs: bytes of each input as the device reads it.
    expected: bytes that each output must be; None if no bytes are known.
    reference: float value of each output, in its logical shape; None if there is none to judge the accuracy by.
    expected_again: of a program with state, bytes that each output must be in a second run on the same inputs; else empty.
    """

    inputs: tuple[bytes, ...]
    expected: tuple[bytes, ...] | None
    reference: tuple[np.ndarray, ...] | None
    expected_again: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Tensor:
    """An input or output of a program: dtype, logical shape, and its dims in the order in which they lie in memory."""

    dtype: np.dtype
    shape: tuple[int, ...]
    dim_order: tuple[int, ...]

    def to_bytes(self, value: np.ndarray) -> bytes:
        return np.ascontiguousarray(value.transpose(self.dim_order)).astype(self.dtype.newbyteorder("<")).tobytes()

    def from_bytes(self, data: bytes) -> np.ndarray:
        stored = np.frombuffer(data, self.dtype.newbyteorder("<")).reshape([self.shape[dim] for dim in self.dim_order])
        return stored.transpose(np.argsort(self.dim_order))

    def __str__(self) -> str:
        return f"{self.dtype} of shape {list(self.shape)}"


@dataclass(frozen=True)
class Program:
    """Inputs and outputs of the first method of a .pte."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def read_program(info: Path) -> Program:
    """From what program_info printed. Raises ValueError for an input or output that is a number."""
    method = json.loads(info.read_text())["methods"][0]
    return Program(*(tuple(_tensor(entry, kind) for entry in method[kind]) for kind in ("inputs", "outputs")))


def _tensor(entry: dict[str, Any], kind: str) -> Tensor:
    if entry["type"] != "tensor":
        raise ValueError(
            f"one of the program's {kind} is no tensor but of type {entry['type']}, which cannot be tested so"
        )
    dtype = {"float": "float32", "double": "float64", "half": "float16"}.get(entry["dtype"], entry["dtype"])
    return Tensor(np.dtype(dtype), tuple(entry["sizes"]), tuple(entry["dim_order"]))


def from_vectors(folder: Path) -> list[Sample]:
    """The exporter's: the evaluation calls of the model's source and, first, its example inputs."""
    index = json.loads((folder / "vectors.json").read_text())
    return [_from_index(folder, entry) for entry in [index, *index["evaluation"]]]


def _from_index(folder: Path, index: dict[str, Any]) -> Sample:
    def read(kind: str) -> tuple[bytes, ...]:
        return tuple((folder / entry["file"]).read_bytes() for entry in index.get(kind, []))

    specs = [
        Tensor(np.dtype(entry["dtype"].removeprefix("torch.")), tuple(entry["shape"]), tuple(entry["dim_order"]))
        for entry in index["float"]
    ]
    reference = tuple(spec.from_bytes(data) for spec, data in zip(specs, read("float")))
    return Sample(read("input"), read("expected"), reference, read("expected_again"))


def from_arrays(program: Program, inputs: Sequence[Path], expected: Sequence[Path], exact: bool) -> list[Sample]:
    """One's own: a .npy for each input and output of the program, of its shape or with a dimension of samples before it.

    exact: whether `expected` are the outputs that the program must give, bit for bit; if not, they are what its accuracy
      is judged by.

    Raises ValueError, with the file, for a wrong number of files, a wrong shape or dtype, or different numbers of samples.
    """
    given = _load(inputs, program.inputs, "input", same_dtype=True)
    wanted = _load(expected, program.outputs, "output", same_dtype=exact)
    counts = {path: len(array) for path, array in zip([*inputs, *expected], given + wanted)}
    if len(set(counts.values())) > 1:
        raise ValueError("different numbers of samples: " + ", ".join(f"{path} has {n}" for path, n in counts.items()))
    samples = []
    for number in range(next(iter(counts.values()))):
        data = tuple(spec.to_bytes(array[number]) for spec, array in zip(program.inputs, given))
        outputs = tuple(array[number] for array in wanted)
        if exact:
            exactly = tuple(spec.to_bytes(array) for spec, array in zip(program.outputs, outputs))
            samples.append(Sample(data, exactly, None))
        else:
            samples.append(Sample(data, None, outputs))
    return samples


def _load(paths: Sequence[Path], specs: Sequence[Tensor], kind: str, same_dtype: bool) -> list[np.ndarray]:
    """Each file as [samples, ...]."""
    if len(paths) != len(specs):
        raise ValueError(f"the program has {len(specs)} {kind}s, but {len(paths)} files are given for them")
    arrays = []
    for number, (path, spec) in enumerate(zip(paths, specs)):
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(f"{path} is no .npy file that can be read: {error}") from None
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{path} holds several arrays; a .npy with one is needed")
        if array.shape == spec.shape:
            array = array[np.newaxis]
        if array.shape[1:] != spec.shape or len(array) == 0:
            raise ValueError(
                f"{path} has shape {list(np.load(path).shape)}, but {kind} {number} of the program is {spec}; "
                "several samples have one more dimension in front"
            )
        if array.dtype != spec.dtype if same_dtype else not np.issubdtype(array.dtype, np.floating):
            wanted = (
                f"{kind} {number} of the program is {spec}" if same_dtype else "an accuracy is judged by float values"
            )
            raise ValueError(f"{path} holds {array.dtype}, but {wanted}")
        arrays.append(array)
    return arrays
