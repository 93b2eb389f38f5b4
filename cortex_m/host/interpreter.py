"""Executes a .pte on the host with the reference operators: what the device must give, bit for bit.

    program = ReferenceProgram(Path("model.pte").read_bytes())
    logits, = program.run((image,))

Memory is laid out as the program plans it: one buffer of bytes for each memory id, tensors as views into them. So a plan that puts
two live tensors in one place shows here as it would on the device: before a call its outputs, and before and after it its
scratch, are overwritten with a pattern. An output may lie where an operand lies only if the operator may work in place on it
(operators.yaml), and on exactly its bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch import exir  # noqa: F401  (registers the dim_order ops a program may call)
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

from cortex_m.host.errors import ProgramError
from cortex_m.ops.codegen import is_scratch
from cortex_m.ops.operators import IN_PLACE, NAMESPACE  # importing it registers torch.ops.cortex_m
from cortex_m.seal import target_of, unsealed
from cortex_m.target_config import CortexMTargetConfig

_POISON = 0xA5
TORCH_DTYPES = {
    schema.ScalarType.BYTE: torch.uint8,
    schema.ScalarType.CHAR: torch.int8,
    schema.ScalarType.SHORT: torch.int16,
    schema.ScalarType.INT: torch.int32,
    schema.ScalarType.LONG: torch.int64,
    schema.ScalarType.HALF: torch.float16,
    schema.ScalarType.FLOAT: torch.float32,
    schema.ScalarType.DOUBLE: torch.float64,
    schema.ScalarType.BOOL: torch.bool,
}


@dataclass(frozen=True)
class Call:
    """One executed kernel call, for a callback: position in the chain, "namespace::op.overload", and its outputs."""

    index: int
    op: str
    outputs: tuple[torch.Tensor, ...]


class ReferenceProgram:
    """One method of a .pte, with its memory. Mutable buffers keep their values from run to run, until `reset`.

    data: the file's bytes, for whatever target. method: name of the execution plan.
    target: what the program was exported for; None if it does not say.
    Raises ProgramError for an unknown method, operator or kind of data, ValueError for a seal that does not fit.
    """

    def __init__(self, data: bytes, method: str = "forward") -> None:
        file = deserialize_pte_binary(unsealed(data))
        self.target: CortexMTargetConfig | None = target_of(data)
        self._program = file.program
        plans = {plan.name: plan for plan in file.program.execution_plan}
        if method not in plans:
            raise ProgramError(f"the program has no method {method!r}, only {sorted(plans)}")
        self._plan = plans[method]
        self._arenas = [
            torch.full((int(size),), _POISON, dtype=torch.uint8) for size in self._plan.non_const_buffer_sizes
        ]
        self._mutable = file.mutable_data or []
        self._initial = [self._value(value.val) for value in self._plan.values]
        self._operators = [find_operator(operator) for operator in self._plan.operators]

    @property
    def arena_sizes(self) -> list[int]:
        """Planned bytes by memory id; id 0 is reserved and empty."""
        return [int(size) for size in self._plan.non_const_buffer_sizes]

    @property
    def input_shapes(self) -> list[tuple[int, ...]]:
        return [tuple(self._initial[index].shape) for index in self._plan.inputs]

    def instruction_names(self) -> list[str]:
        """ "namespace::op.overload" of each kernel call of the one chain, in order."""
        return [name for _, name in self.calls()]

    def calls(self) -> list[tuple[int, str]]:
        """(position in the one chain, name) of each."""
        return [
            (index, operator_name(self._plan.operators[instruction.instr_args.op_index]))
            for chain in self._plan.chains
            for index, instruction in enumerate(chain.instructions)
            if isinstance(instruction.instr_args, schema.KernelCall)
        ]

    def run(self, inputs: Sequence[Any], callback: Callable[[Call], None] | None = None) -> list[Any]:
        """Outputs for `inputs`, each a tensor (or number) of its own in the memory order the program gives it.

        Raises ProgramError if inputs differ from the program's in number, shape or dtype.
        """
        values = list(self._initial)
        self._set_inputs(values, inputs)
        for chain in self._plan.chains:
            self._run_chain(chain, values, callback)
        outputs = [self._materialise(values, index) for index in self._plan.outputs]
        return [value.clone() if isinstance(value, torch.Tensor) else value for value in outputs]

    def reset(self) -> None:
        """Brings the buffers that the program changes back to the values that the file has for them."""
        for value in self._plan.values:
            if isinstance(value.val, schema.Tensor) and value.val.allocation_info and value.val.data_buffer_idx > 0:
                self._tensor(value.val)

    # Values

    def _value(self, value: Any) -> Any:
        if isinstance(value, schema.Tensor):
            return self._tensor(value)
        if isinstance(value, schema.Null):
            return None
        for kind, field in (
            (schema.Int, "int_val"), (schema.Bool, "bool_val"), (schema.Double, "double_val"), (schema.String, "string_val"),
        ):  # fmt: skip
            if isinstance(value, kind):
                held = getattr(value, field)
                return float(held) if kind is schema.Double else held
        return value  # lists hold indices of values: they are read when an operator wants them

    def _tensor(self, tensor: schema.Tensor) -> torch.Tensor | None:
        dtype = TORCH_DTYPES.get(tensor.scalar_type)
        if dtype is None:
            raise ProgramError(f"tensors of {tensor.scalar_type.name} are not supported")
        info = tensor.extra_tensor_info
        if info is not None and info.location == schema.TensorDataLocation.EXTERNAL:
            raise ProgramError(f"tensor {info.fully_qualified_name} has its data in another file")
        count = 1
        for size in tensor.sizes:
            count *= size
        bytes_needed = count * dtype.itemsize
        if tensor.allocation_info is not None:
            arena = self._arenas[tensor.allocation_info.memory_id]
            offset = tensor.allocation_info.memory_offset
            if offset + bytes_needed > arena.numel():
                raise ProgramError(f"a tensor of {bytes_needed} bytes at {offset} leaves its buffer of {arena.numel()}")
            storage = arena[offset : offset + bytes_needed]
            if tensor.data_buffer_idx > 0:
                initial = self._mutable[tensor.data_buffer_idx].storage
                storage.copy_(torch.frombuffer(bytearray(initial[:bytes_needed]), dtype=torch.uint8))
        elif tensor.data_buffer_idx > 0:
            constant = self._program.constant_buffer[tensor.data_buffer_idx].storage
            storage = torch.frombuffer(bytearray(constant[:bytes_needed]), dtype=torch.uint8) if count else None
        else:
            storage = torch.full((bytes_needed,), _POISON, dtype=torch.uint8)  # the caller's own memory
        if count == 0:
            return torch.empty(tensor.sizes, dtype=dtype)
        flat = storage.view(dtype) if dtype != torch.bool else storage.view(torch.bool)
        strides = [0] * len(tensor.sizes)
        stride = 1
        for dim in reversed(list(tensor.dim_order)):
            strides[dim] = stride
            stride *= max(tensor.sizes[dim], 1)
        return flat.as_strided(tensor.sizes, strides)

    def _materialise(self, values: list[Any], index: int) -> Any:
        value = values[index]
        if isinstance(value, schema.IntList):
            return [values[item] for item in value.items]
        if isinstance(value, (schema.BoolList, schema.DoubleList)):
            return list(value.items)
        if isinstance(value, (schema.TensorList, schema.OptionalTensorList)):
            return [None if item < 0 else values[item] for item in value.items]
        return value

    def _set_inputs(self, values: list[Any], inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self._plan.inputs):
            raise ProgramError(f"the program takes {len(self._plan.inputs)} inputs, not {len(inputs)}")
        for position, (index, given) in enumerate(zip(self._plan.inputs, inputs)):
            expected = values[index]
            if not isinstance(expected, torch.Tensor):
                if given != expected:
                    raise ProgramError(f"input {position} was exported as the constant {expected!r}, not {given!r}")
                continue
            if tuple(given.shape) != tuple(expected.shape) or given.dtype != expected.dtype:
                raise ProgramError(
                    f"input {position} must be {expected.dtype} {tuple(expected.shape)}, "
                    f"not {given.dtype} {tuple(given.shape)}"
                )
            expected.copy_(given)

    # Instructions

    def _run_chain(self, chain: schema.Chain, values: list[Any], callback: Callable[[Call], None] | None) -> None:
        position = 0
        while position < len(chain.instructions):
            instruction = chain.instructions[position].instr_args
            position += 1
            if isinstance(instruction, schema.KernelCall):
                outputs = self._call(instruction, values)
                if callback is not None:
                    name = operator_name(self._plan.operators[instruction.op_index])
                    callback(Call(position - 1, name, tuple(outputs)))
            elif isinstance(instruction, schema.MoveCall):
                values[instruction.move_to] = values[instruction.move_from]
            elif isinstance(instruction, schema.JumpFalseCall):
                if not bool(values[instruction.cond_value_index]):
                    position = instruction.destination_instruction
            elif not isinstance(instruction, schema.FreeCall):
                raise ProgramError(
                    f"instruction {position - 1} is a {type(instruction).__name__}; delegates are not supported"
                )

    def _call(self, call: schema.KernelCall, values: list[Any]) -> list[torch.Tensor]:
        operator = self._operators[call.op_index]
        arguments = operator._schema.arguments
        given = [self._materialise(values, index) for index in call.args]
        returned = call.args[len(arguments) :]
        keywords = {argument.name: _converted(argument, value) for argument, value in zip(arguments, given)}
        outs = _flat(keywords[argument.name] for argument in arguments if argument.is_out)
        scratch = [
            keywords[a.name] for a in arguments if is_scratch(a.name) and isinstance(keywords[a.name], torch.Tensor)
        ]
        inputs = {index for index, argument in zip(call.args, arguments) if not argument.is_out}
        for index, argument in zip(call.args, arguments):
            if argument.is_out and index not in inputs:
                for out in _flat([keywords[argument.name]]):
                    if not _works_in_place(operator, keywords, out):
                        _poison(out)
        for tensor in scratch:
            _poison(tensor)
        positional = [keywords.pop(argument.name) for argument in arguments if not argument.kwarg_only]
        shapes = [tuple(out.shape) for out in outs]
        result = operator(*positional, **keywords)
        if shapes != [tuple(out.shape) for out in outs]:
            raise ProgramError(f"{operator} gave another shape than the program plans")
        for tensor in scratch:
            _poison(tensor)
        if outs:
            return outs
        if returned and not isinstance(result, torch.Tensor):
            values[returned[0]] = result
        # An operator that changes its operand in place returns it.
        return [values[index] for index in returned if isinstance(values[index], torch.Tensor)]


def _flat(values: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors among `values` and in the lists among them."""
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in items if isinstance(item, torch.Tensor)]


def _works_in_place(operator: torch._ops.OpOverload, arguments: dict[str, Any], out: Any) -> bool:
    """Whether `out` lies on an operand. Raises ProgramError if the operator cannot work so."""
    found = False
    for name, value in arguments.items():
        for operand in value if isinstance(value, list) else [value]:
            if operand is out or not isinstance(operand, torch.Tensor) or not _share_bytes(operand, out):
                continue
            allowed = operator.namespace == NAMESPACE and name in IN_PLACE.get(operator._opname, ())
            if not allowed or _place(operand) != _place(out):
                raise ProgramError(
                    f"{operator} writes its result over its argument {name}, which the operator cannot do"
                )
            found = True
    return found


def _place(tensor: torch.Tensor) -> tuple[int, int, tuple[int, ...], torch.dtype]:
    return tensor.data_ptr(), tensor.numel(), tensor.stride(), tensor.dtype


def _share_bytes(one: torch.Tensor, other: Any) -> bool:
    if not isinstance(other, torch.Tensor) or not one.numel() or not other.numel():
        return False
    (begin, end), (from_, to) = (
        (tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size()) for tensor in (one, other)
    )
    return begin < to and from_ < end


def _poison(value: Any) -> None:
    if isinstance(value, torch.Tensor) and value.numel():
        byte_view = value.as_strided((value.numel(),), (1,)).view(torch.uint8)
        byte_view.fill_(1 if value.dtype == torch.bool else _POISON)


def _converted(argument: Any, value: Any) -> Any:
    """A number of the program as the type the operator's schema asks for."""
    kind = str(argument.real_type)
    if "ScalarType" in kind and isinstance(value, int):
        return TORCH_DTYPES[schema.ScalarType(value)]
    if "MemoryFormat" in kind and isinstance(value, int):
        return [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d][value]
    return value


def operator_name(operator: schema.Operator) -> str:
    """ "namespace::op.overload"."""
    return f"{operator.name}.{operator.overload}" if operator.overload else operator.name


def find_operator(operator: schema.Operator) -> torch._ops.OpOverload:
    """Raises ProgramError if torch has no operator of that name."""
    namespace, _, name = operator.name.partition("::")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), operator.overload or "default")
    except AttributeError as error:
        raise ProgramError(f"no operator {operator_name(operator)} on the host") from error
