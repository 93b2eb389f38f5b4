"""Makes the programs that fuzzing starts from: of each kernel some calls that its own tests make, with the tensors' contents.

    make_corpus.py FOLDER

Beside the repository's packages it needs libportable_host.so (cortex_m/portable:libportable_host.so). What it wrote lies in
cortex_m/runtime/testing/corpus; a new operator asks for it again.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary

from cortex_m.portable import device_test, kernel_library, replay_file, schemas
from cortex_m.portable.kernel_library import DTYPE_CODES, MEMORY_FORMAT_CODES, Out, bytes_of, dim_order_of
from cortex_m.test.suite.case import Scratch, named_arguments, reference, schema_of
from cortex_m.test.suite.program import CONSTANTS
from cortex_m.test.suite.registry import all_cases

_CALLS = 3  # of each operator
_MOST_BYTES = 1024  # of a call's tensors


class Programs:
    """Collects calls, some in each program."""

    def __init__(self) -> None:
        self.values: list[schema.EValue] = []
        self.operators: list[schema.Operator] = []
        self.instructions: list[schema.Instruction] = []
        self.constants = [schema.Buffer(b"")]
        self.state = [schema.Buffer(b"")]
        self.end = 0

    def add(self, value: Any) -> int:
        self.values.append(schema.EValue(value))
        return len(self.values) - 1

    def tensor(self, sizes, order, dtype: torch.dtype, data: bytes | None, constant: bool = False) -> int:
        """data: None for what the call writes."""
        place, buffer = None, 0
        if constant and data:
            self.constants.append(schema.Buffer(data))
            buffer = len(self.constants) - 1
        else:
            size = torch.empty((), dtype=dtype).element_size() * torch.Size(sizes).numel()
            place = schema.AllocationDetails(1, self.end, 0)
            self.end += -(-size // 16) * 16
            if data:
                self.state.append(schema.Buffer(data))
                buffer = len(self.state) - 1
        return self.add(
            schema.Tensor(
                schema.ScalarType(DTYPE_CODES[dtype]), 0, list(sizes), list(order), False, 0, buffer, place,
                schema.TensorShapeDynamism.STATIC,
            )
        )  # fmt: skip

    def argument(self, value: Any, type_: str, constant: bool) -> int:
        if value is None:
            return self.add(schema.Null())
        if isinstance(value, torch.Tensor):
            order = dim_order_of(value)
            return self.tensor(value.shape, order, value.dtype, bytes_of(value, order), constant)
        if isinstance(value, (torch.dtype, torch.memory_format)):
            return self.add(schema.Int({**DTYPE_CODES, **MEMORY_FORMAT_CODES}[value]))
        if isinstance(value, str):
            return self.add(schema.String(value))
        if isinstance(value, (list, tuple)):
            return self._list(list(value), type_, constant)
        if isinstance(value, bool):
            return self.add(schema.Bool(value))
        if isinstance(value, float) or "float" in type_:
            return self.add(schema.Double(float(value)))
        return self.add(schema.Int(value))

    def _list(self, items: list, type_: str, constant: bool) -> int:
        if "Tensor" in type_:
            values = [-1 if item is None else self.argument(item, "Tensor", constant) for item in items]
            return self.add(schema.OptionalTensorList(values) if "Optional" in type_ else schema.TensorList(values))
        if "float" in type_:
            return self.add(schema.DoubleList([float(item) for item in items]))
        return self.add(schema.IntList([self.add(schema.Int(item)) for item in items]))

    def call(self, name: str, arguments: list[tuple[Any, str, bool]], outs: list[Out], out_list: bool) -> None:
        """arguments: value, type and whether it is to be a constant. Without outs the first argument is changed."""
        given = [self.argument(*argument) for argument in arguments]
        results = [self.tensor(out.sizes, out.dim_order, out.dtype, None) for out in outs] or given[:1]
        if out_list or len(results) > 1:
            returned = self.add(schema.TensorList(results))
            handed = [self.add(schema.TensorList(results))] if out_list else results
        else:
            returned, handed = results[0], results if outs else []
        base, _, overload = name.partition(".")
        self.operators.append(schema.Operator(base, overload))
        arguments_ = [*given, *handed, returned]
        self.instructions.append(schema.Instruction(schema.KernelCall(len(self.operators) - 1, arguments_)))

    def write(self, path: Path) -> None:
        plan = schema.ExecutionPlan(
            name="forward",
            container_meta_type=schema.ContainerMetadata("", ""),
            values=self.values,
            inputs=[],
            outputs=[],
            chains=[schema.Chain([], [], self.instructions, None)],
            operators=self.operators,
            delegates=[],
            non_const_buffer_sizes=[0, self.end],
        )
        program = schema.Program(0, [plan], self.constants, [], [], schema.SubsegmentOffsets(0, []))
        path.write_bytes(bytes(serialize_pte_binary(PTEFile(program, mutable_data=self.state))))


def _size(values: Any) -> int:
    if isinstance(values, torch.Tensor):
        return values.numel() * values.element_size()
    return sum(map(_size, values)) if isinstance(values, (list, tuple)) else 0


class _Recorder:
    """The calls of the portable kernels' tests, by operator: the first few of each, of different types."""

    def __init__(self) -> None:
        self.calls: dict[str, list] = defaultdict(list)
        self._seen: set = set()

    def record(self, name, arguments, outs, out_list, results) -> None:
        values = [value for value, _ in arguments]
        kinds = (name, tuple(value.dtype if isinstance(value, torch.Tensor) else type(value) for value in values))
        empty = any(isinstance(value, torch.Tensor) and value.numel() == 0 for value in values)
        if results is None or empty or _size(values) > _MOST_BYTES or len(self.calls[name]) == _CALLS:
            return
        if kinds in self._seen:
            return
        self._seen.add(kinds)
        in_place = [] if any(argument[1] == "Tensor(a!)" for argument in arguments) else outs
        self.calls[name].append((arguments, in_place, out_list))


def _call_with_defaults(name: str) -> None:
    """Of a function of one tensor whose tests use large ones."""
    x = torch.linspace(-3, 3, 16).reshape(4, 4)
    results = [argument for argument in kernel_library.overload(name)._schema.arguments if argument.is_out]
    sizes = () if name.partition(".")[0].startswith("aten::var") else x.shape
    kernel_library.call(name, x, outs=[kernel_library.empty_out(sizes, x.dtype) for _ in results])


def _portable(folder: Path) -> None:
    recorder = _Recorder()

    # The same calls as a core replays: what records those for it hands them on.
    with mock.patch.object(replay_file.Recorder, "_record", recorder.record):
        device_test._record_everything()
    kernel_library.recorder = recorder.record
    for name in kernel_library.kernel_names():
        if not recorder.calls[name]:
            _call_with_defaults(name)
    kernel_library.recorder = None
    for family in schemas.families():
        programs = Programs()
        for name in family.operators:
            for number, (arguments, outs, out_list) in enumerate(recorder.calls[name]):
                typed = [(value, type_, number == 1 and "!" not in type_) for value, type_ in arguments]
                programs.call(name, typed, outs, out_list)
        programs.write(folder / f"portable_{family.file}.pte")


def _own(folder: Path) -> None:
    by_operator = defaultdict(list)
    for case in all_cases():
        tensors = [value for value in case.arguments if isinstance(value, torch.Tensor)]
        if min(tensor.numel() for tensor in tensors) > 0 and _size(tensors) <= 4 * _MOST_BYTES:
            by_operator[case.op].append(case)
    for op, cases in by_operator.items():
        programs = Programs()
        types = {argument.name: str(argument.type) for argument in schema_of(op).arguments}
        for case in cases[:: max(len(cases) // _CALLS, 1)][:_CALLS]:
            arguments = []
            for name, value in named_arguments(case).items():
                if isinstance(value, Scratch):
                    value = torch.zeros(value.size(case.backends[-1]), dtype=torch.uint8)
                arguments.append((value, types[name], name in CONSTANTS))
            result = reference(case)
            order = case.orders.get("out", dim_order_of(result))
            programs.call(f"cortex_m::{op}.out", arguments, [Out(tuple(result.shape), result.dtype, order)], False)
        programs.write(folder / f"{op}.pte")


def main(argv: list[str]) -> None:
    folder = Path(argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    _portable(folder)
    _own(folder)


if __name__ == "__main__":
    main(sys.argv)
