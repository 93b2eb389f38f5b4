"""The schemas of ATen operators, as torch states them, for the kernels in this folder.

Single sources: `operators.yaml` beside this file names the operators that have a kernel, and in which file; torch's own
native_functions.yaml (packaged with torchgen, which also derives the `.out` forms from it) says what their arguments are.
The three operators of executorch's `dim_order_ops` library come from its functions.yaml.

torchgen is pure Python: reading all schemas takes about a second, and torch itself is not imported.
"""

from __future__ import annotations

import functools
import importlib.util
import pathlib
from dataclasses import dataclass

import yaml
from torchgen.gen import parse_native_yaml
from torchgen.model import Argument, FunctionSchema, NativeFunction, Type

OPERATORS_YAML = pathlib.Path(__file__).with_name("operators.yaml")


def _package_file(package: str, path: str) -> pathlib.Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations, package
    for root in spec.submodule_search_locations:
        file = pathlib.Path(root) / path
        if file.exists():
            return file
    raise FileNotFoundError(f"{package} has no file {path}")


@functools.cache
def native_functions() -> dict[str, NativeFunction]:
    """All of torch's own operators, by name as a program has it: "aten::add.out"."""
    folder = _package_file("torchgen", "packaged/ATen/native")
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    return {f"aten::{function.func.name}": function for function in parsed.native_functions}


@functools.cache
def _dim_order_ops() -> dict[str, FunctionSchema]:
    entries = yaml.safe_load(_package_file("executorch", "kernels/portable/functions.yaml").read_text())
    prefix = "dim_order_ops::"
    schemas = [entry["func"] for entry in entries if entry.get("func", "").startswith(prefix)]
    parsed = [FunctionSchema.parse(schema.removeprefix(prefix)) for schema in schemas]
    return {prefix + str(schema.name): schema for schema in parsed}


def schema(name: str) -> FunctionSchema:
    """The schema of an operator.

    Raises:
      KeyError: neither torch nor executorch's dim_order_ops has an operator of that name.
    """
    if name in _dim_order_ops():
        return _dim_order_ops()[name]
    if name not in native_functions():
        raise KeyError(f"{name} is no operator of torch's native_functions.yaml or of executorch's dim_order_ops")
    return native_functions()[name].func


@dataclass(frozen=True)
class Family:
    """A file of kernels: `file`.cc implements `operators`, whose element types are `types`; `result` is as in operators.yaml."""

    file: str
    operators: tuple[str, ...]
    types: dict[str, str]
    result: str


@functools.cache
def families() -> tuple[Family, ...]:
    entries = yaml.safe_load(OPERATORS_YAML.read_text())
    return tuple(
        Family(
            entry["file"],
            tuple(entry["operators"]),
            {name: entry.get("except", {}).get(name, entry["types"]) for name in entry["operators"]},
            entry["result"],
        )
        for entry in entries
    )


def operators() -> list[str]:
    """Names of all operators with a kernel, in the order of operators.yaml."""
    return [name for family in families() for name in family.operators]


# What a schema's type is in C++; boxed.h of the runtime and boxing.h beside this file do the unboxing.
_CPP_TYPES = {
    "Tensor": "const Tensor&",
    "Tensor?": "const Tensor*",
    "Tensor[]": "Span<const Tensor>",
    "Tensor?[]": "Span<const Tensor* const>",
    "int": "int64_t",
    "int?": "const int64_t*",
    "int[]": "IntList",
    "int[]?": "const IntList*",
    "float": "double",
    "float?": "const double*",
    "float[]?": "std::optional<Span<const double>>",
    "bool": "bool",
    "bool?": "std::optional<bool>",
    "str": "Span<const char>",
    "str?": "std::optional<Span<const char>>",
    "Scalar": "Scalar",
    "Scalar?": "std::optional<Scalar>",
    "ScalarType?": "std::optional<ScalarType>",
    "MemoryFormat?": "const int64_t*",
}


def cpp_type(type_: Type, writable: bool) -> str:
    """The C++ parameter for an argument of that type.

    Raises:
      KeyError: kernels cannot take such an argument yet.
    """
    text = str(type_).replace("SymInt", "int")
    for digit in "123456":
        text = text.replace(f"[{digit}]", "[]")
    if writable and text == "Tensor":
        return "Tensor&"
    return _CPP_TYPES[text]


def cpp_name(name: str) -> str:
    """ "aten::add.Scalar_out" -> "aten::add_Scalar_out": the C++ function, inside namespace cortex_m."""
    return name.replace(".", "_")


def cpp_parameters(name: str) -> list[tuple[str, str]]:
    """(C++ type, name) of each argument in schema order, out arguments last, as the program passes them."""
    return [
        (cpp_type(argument.type, argument.annotation is not None and argument.annotation.is_write), argument.name)
        for argument in arguments(name)
    ]


def arguments(name: str) -> list[Argument]:
    """Of an operator, as the program passes them: in schema order, out arguments last."""
    found = schema(name).arguments
    result = list(found.pre_self_positional)
    if found.self_arg is not None:
        result.append(found.self_arg.argument)
    result += list(found.post_self_positional)
    result += list(found.pre_tensor_options_kwarg_only)
    assert found.tensor_options is None, f"{name}: the out form has no tensor options"
    return result + list(found.post_tensor_options_kwarg_only) + list(found.out)
