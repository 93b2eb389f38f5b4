"""Runs a .pte on this machine with the device's own runtime and kernels, compiled for the host.

    program = Program("model.pte")
    logits, = program.run((image,))
    logits, = program.run_batch((images,))        # images: [N, ...], N calls in one

The outputs are the device's, bit for bit: the same C++ loads, verifies and executes the program, with every kernel there is,
those for floats too. A program for a core runs as well, for a target says what the program's scratch buffers do for, and the host
takes the portable form of each kernel. `ReferenceProgram` (interpreter.py) has the same results from operators in Python,
which are much slower and can be asked for the tensors between two operators.

Nothing in the file is trusted: a damaged one raises ProgramError. What is read is what was verified: the bytes are copied first.
The library is looked for in $CORTEX_M_HOST_LIBRARY, beside this file and in bazel-bin.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cortex_m.host import locate
from cortex_m.host.errors import ProgramError
from cortex_m.host.specs import NumberSpec, SignatureError, Spec, TensorSpec
from cortex_m.target_config import Backend, CortexMTargetConfig

_DTYPES = {
    "uint8": torch.uint8,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "half": torch.float16,
    "float": torch.float32,
    "double": torch.float64,
    "bool": torch.bool,
}
_NUMBERS = {"int": int, "double": float, "bool": bool}
_ERROR_BYTES = 1024
_WRITTEN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t)


class Program:
    """One method of a .pte, ready to run. Its mutable buffers keep their values from run to run, as on the device.

    program: the file's bytes, or its path. method: the first one if None.
    inputs, outputs: what the method takes and gives, a TensorSpec or NumberSpec each.
    target: what it was exported for; None if it does not say.
    operators: names of those that it calls, "cortex_m::quantized_add.out".
    planned_bytes: sizes of its planned memories. info: all that is known of it, as program_json.h describes.

    Raises ProgramError, with the runtime's sentence, for a file that is no valid program, has no such method, calls an operator
    without a kernel, or plans more than 512 MiB; OSError for a path that cannot be read. Calls from several threads wait for
    each other; programs are independent.
    """

    def __init__(self, program: bytes | str | os.PathLike, method: str | None = None) -> None:
        data, name = (bytes(program), "") if isinstance(program, (bytes, bytearray, memoryview)) else _read(program)
        library = _library()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        wanted = None if method is None else method.encode()
        handle = library.cortex_m_host_open(data, len(data), wanted, error, len(error))
        if not handle:
            raise ProgramError(name + error.value.decode(errors="replace"))
        self._handle = ctypes.c_void_p(handle)
        self._lock = threading.Lock()
        weakref.finalize(self, library.cortex_m_host_close, self._handle)
        self.info: dict[str, Any] = json.loads(library.cortex_m_host_json(self._handle))
        methods = {plan["name"]: plan for plan in reversed(self.info["methods"])}
        plan = self.info["methods"][0] if wanted is None else methods[wanted.decode("latin-1")]
        self.name: str = plan["name"]
        self.inputs: tuple[Spec, ...] = tuple(map(_spec, plan["inputs"]))
        self.outputs: tuple[Spec, ...] = tuple(map(_spec, plan["outputs"]))
        self.operators: tuple[str, ...] = tuple(plan["operators"])
        self.planned_bytes: tuple[int, ...] = tuple(plan["planned_bytes"])
        self.target = _target(self.info["target"])

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """One inference.

        inputs: torch tensors or numpy arrays of exactly the shapes and dtypes of `self.inputs`, in any memory order; for a
        NumberSpec the number that the program was exported with. Returns torch tensors in the program's memory order, and numbers.
        Raises SignatureError for inputs that are not the program's, ProgramError if an operator refuses its arguments.
        """
        return [_first(spec, values) for spec, values in zip(self.outputs, self.run_batch(self._batch_of_one(inputs)))]

    def run_batch(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        """N inferences, one after another: inputs and outputs as of `run`, each with a dimension of N in front.

        A program without inputs cannot say N: use `run`.
        """
        pairs = list(self._pairs(inputs))
        packed = [_pack(spec, values, position) for position, (spec, values) in enumerate(pairs)]
        counts = {len(values) for values in packed} or {1}
        if len(counts) > 1:
            raise SignatureError(f"the inputs have different numbers of samples: {sorted(counts)}")
        (count,) = counts
        results = [_empty(spec, count) for spec in self.outputs]
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        with self._lock:
            done = _library().cortex_m_host_run(
                self._handle, count, _pointers(packed), _pointers(results), error, len(error)
            )
        if done != count:
            where = f"run {done} of {count}: " if count > 1 else ""
            raise ProgramError(where + error.value.decode(errors="replace"))
        return [_unpack(spec, values) for spec, values in zip(self.outputs, results)]

    def reset(self) -> None:
        """Brings the buffers that the program changes back to their initial values, as `Method::Reset` does on the device."""
        with self._lock:
            _library().cortex_m_host_reset(self._handle)

    def trace(self, inputs: Sequence[Any]) -> tuple[list[Any], list[tuple[int, bytes]]]:
        """One inference: its outputs, as of `run`, and (instruction, bytes in memory order) of each tensor computed on the way."""
        written: list[tuple[int, bytes]] = []
        call = _WRITTEN(lambda _, instruction, data, size: written.append((instruction, ctypes.string_at(data, size))))
        pairs = self._pairs(self._batch_of_one(inputs))
        packed = [_pack(spec, values, position) for position, (spec, values) in enumerate(pairs)]
        results = [_empty(spec, 1) for spec in self.outputs]
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        with self._lock:
            done = _library().cortex_m_host_trace(
                self._handle, _pointers(packed), _pointers(results), call, None, error, len(error)
            )
        if not done:
            raise ProgramError(error.value.decode(errors="replace"))
        return [_first(spec, _unpack(spec, values)) for spec, values in zip(self.outputs, results)], written

    def _batch_of_one(self, inputs: Sequence[Any]) -> list[Any]:
        return [
            [value] if isinstance(spec, NumberSpec) else _tensor(value)[None] for spec, value in self._pairs(inputs)
        ]

    def _pairs(self, inputs: Sequence[Any]) -> zip[tuple[Spec, Any]]:
        if len(inputs) != len(self.inputs):
            raise SignatureError(f"the program takes {len(self.inputs)} inputs, not {len(inputs)}")
        return zip(self.inputs, inputs)


def kernels() -> list[str]:
    """Names of all operators that there are kernels for."""
    names: list[str] = []
    while (name := _library().cortex_m_host_kernel(len(names))) is not None:
        names.append(name.decode())
    return names


@functools.cache
def _library() -> ctypes.CDLL:
    library = locate.load("host", "libcortex_m_host.so", "CORTEX_M_HOST_LIBRARY")
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in [
        ("open", pointer, [text, size, text, text, size]),
        ("close", None, [pointer]),
        ("json", text, [pointer]),
        ("run", size, [pointer, size, pointer, pointer, text, size]),
        ("reset", None, [pointer]),
        ("trace", size, [pointer, pointer, pointer, _WRITTEN, pointer, text, size]),
        ("kernel", text, [size]),
    ]:
        function = getattr(library, f"cortex_m_host_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def _read(path: str | os.PathLike) -> tuple[bytes, str]:
    """The bytes of a file, and the beginning of a sentence about it."""
    return Path(path).read_bytes(), f"{path}: "


def _spec(end: dict[str, Any]) -> Spec:
    if end["type"] == "tensor":
        return TensorSpec(tuple(end["sizes"]), _DTYPES[end["dtype"]], tuple(end["dim_order"]))
    if end["type"] in _NUMBERS:
        return NumberSpec(_NUMBERS[end["type"]])
    raise ProgramError("an input or output is neither a tensor nor a number")


def _target(target: dict[str, str] | None) -> CortexMTargetConfig | None:
    if target is None:
        return None
    try:
        config = CortexMTargetConfig.from_target_string(target["core"])
        isa = target["instruction_set"]
        return (
            config
            if config.cpu is None or isa == config.backend.name
            else CortexMTargetConfig(config.cpu, Backend[isa])
        )
    except (KeyError, ValueError) as error:
        raise ProgramError(f"its target is unknown: {error}") from error


def _tensor(value: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else torch.as_tensor(value).detach().cpu()


def _pack(spec: Spec, values: Any, position: int) -> torch.Tensor:
    """The values, [N, ...], as they lie in memory for N runs."""
    if isinstance(spec, NumberSpec):
        return torch.tensor([spec.kind(value) for value in values], dtype=spec.dtype)
    tensor = _tensor(values)
    if tuple(tensor.shape[1:]) != spec.shape or tensor.dtype != spec.dtype or tensor.dim() != len(spec.shape) + 1:
        raise SignatureError(
            f"input {position} is {spec.dtype} {spec.shape}, not {tensor.dtype} {tuple(tensor.shape[1:])}"
        )
    return tensor.permute(0, *(dim + 1 for dim in spec.dim_order)).contiguous()


def _empty(spec: Spec, count: int) -> torch.Tensor:
    sizes = [] if isinstance(spec, NumberSpec) else [spec.shape[dim] for dim in spec.dim_order]
    return torch.empty([count, *sizes], dtype=spec.dtype)


def _unpack(spec: Spec, values: torch.Tensor) -> torch.Tensor:
    if isinstance(spec, NumberSpec):
        return values
    return values.permute(0, *(spec.dim_order.index(dim) + 1 for dim in range(len(spec.shape))))


def _first(spec: Spec, values: torch.Tensor) -> Any:
    return values[0].item() if isinstance(spec, NumberSpec) else values[0]


def _pointers(tensors: Sequence[torch.Tensor]) -> ctypes.Array:
    return (ctypes.c_void_p * max(len(tensors), 1))(*(tensor.data_ptr() for tensor in tensors))
