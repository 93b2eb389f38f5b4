"""Writes the C++ declarations that follow from operators.yaml.

    codegen.py --operators_yaml=operators.yaml --declarations=operators.h

cortex_m/runner/kernel_table.py makes the kernel table of a runner from the same schemas. A schema that has no C++ form is
one sentence on stderr and exit status 1.
"""

import pathlib
import re

import yaml
from absl import app, flags
from torchgen.model import Argument, BaseTy, BaseType, FunctionSchema, ListType, OptionalType, Type  # torch-free

OPERATORS_YAML = pathlib.Path(__file__).with_name("operators.yaml")

_OPERATORS_YAML = flags.DEFINE_string("operators_yaml", str(OPERATORS_YAML), "The schemas.")
_DECLARATIONS = flags.DEFINE_string("declarations", None, "Header to write: one C++ declaration an operator.")

_NAMESPACE = "cortex_m"
_MADE_BY = "// Made from operators.yaml by codegen.py.\n"

# cortex_m/runtime/boxed.h has the C++ side of this table.
_SCALARS = {
    BaseTy.Tensor: "const Tensor&",
    BaseTy.int: "int64_t",
    BaseTy.float: "double",
    BaseTy.bool: "bool",
    BaseTy.ScalarType: "ScalarType",
}
_OPTIONALS = {BaseTy.Tensor: "const Tensor*", BaseTy.int: "const int64_t*", BaseTy.float: "const double*"}
_LISTS = {BaseTy.int: "IntList", BaseTy.Tensor: "Span<const Tensor>"}


class CodegenError(Exception):
    """What is asked for cannot be generated; the message is one sentence."""


def read_schemas(path: str) -> dict[str, FunctionSchema]:
    """The functional schema of each operator, by its name, in the order of the file."""
    schemas = {}
    for entry in yaml.safe_load(pathlib.Path(path).read_text()):
        schema = FunctionSchema.parse(entry["func"])
        name = str(schema.name.name)
        if name in schemas:
            raise CodegenError(f"{path} has two schemas of {name}.")
        schemas[name] = schema
    return schemas


def is_scratch(argument: str) -> bool:
    """Whether a kernel uses the argument of that name as working memory."""
    return re.fullmatch(r"(.*_)?scratch", argument) is not None


def read_in_place(path: pathlib.Path) -> dict[str, tuple[str, ...]]:
    """Operator name to the names of the arguments that its result may be written over, of those that have such."""
    entries = yaml.safe_load(path.read_text())
    return {entry["func"].partition("(")[0]: tuple(entry["in_place"]) for entry in entries if "in_place" in entry}


def program_name(name: str) -> str:
    """How a program calls the operator: always the out variant."""
    return f"{_NAMESPACE}::{name}.out"


def cpp_type(argument: Argument) -> str:
    """The C++ parameter type of an argument of a functional schema."""
    # What a kernel writes to must not be a constant; the executor checks that for a Tensor&.
    if is_scratch(argument.name):
        return "Tensor&"
    kind: Type = argument.type
    if isinstance(kind, BaseType) and kind.name in _SCALARS:
        return _SCALARS[kind.name]
    if isinstance(kind, OptionalType) and isinstance(kind.elem, BaseType) and kind.elem.name in _OPTIONALS:
        return _OPTIONALS[kind.elem.name]
    if isinstance(kind, ListType) and isinstance(kind.elem, BaseType) and kind.elem.name in _LISTS:
        return _LISTS[kind.elem.name]
    raise CodegenError(f"Argument {argument.name} has the type {kind}, for which there is no C++ parameter.")


def declaration(name: str, schema: FunctionSchema) -> str:
    parameters = [f"{cpp_type(argument)} {argument.name}" for argument in schema.arguments.flat_all]
    return f"Status {name}_out(KernelContext& context, {', '.join(parameters)}, const Tensor& out);"


def declarations(schemas: dict[str, FunctionSchema]) -> str:
    """operators.h: each operator's declaration, its schema as a comment."""
    lines = [_MADE_BY, "#ifndef CORTEX_M_OPS_OPERATORS_H_", "#define CORTEX_M_OPS_OPERATORS_H_", ""]
    lines += ['#include "cortex_m/runtime/kernel.h"', "", "namespace cortex_m::ops {"]
    for name, schema in schemas.items():
        lines += ["", f"// {schema}", declaration(name, schema)]
    lines += ["", "}  // namespace cortex_m::ops", "", "#endif  // CORTEX_M_OPS_OPERATORS_H_"]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> None:
    if len(argv) > 1 or not _DECLARATIONS.value:
        raise app.UsageError("--declarations is needed, and there are no other arguments")
    try:
        pathlib.Path(_DECLARATIONS.value).write_text(declarations(read_schemas(_OPERATORS_YAML.value)))
    except CodegenError as error:
        raise SystemExit(f"codegen: {error}") from None


if __name__ == "__main__":
    app.run(main)
