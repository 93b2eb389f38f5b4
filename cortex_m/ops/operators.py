"""Registers the cortex_m ops with PyTorch: importing this module makes `torch.ops.cortex_m.<op>` exist.

Schemas come from operators.yaml alone. Each op gets two overloads: the functional one, and `.out`, which writes into a given
tensor and is what a .pte names. Both run the reference of `cortex_m/ops/reference` on real tensors and its shape function on fake ones.
"""

import torch
import yaml
from torch.library import Library

from cortex_m.ops.codegen import OPERATORS_YAML, read_in_place
from cortex_m.ops.reference import (  # noqa: F401  (imported for what they register)
    convolution,
    elementwise,
    linear,
    movement,
    packed,
    pooling,
    quantize,
    softmax,
)
from cortex_m.ops.reference.registry import FAKES, REFERENCES

NAMESPACE = "cortex_m"


def read_schemas() -> dict[str, str]:
    """Op name to functional schema "name(arguments) -> Tensor", from operators.yaml."""
    entries = yaml.safe_load(OPERATORS_YAML.read_text(encoding="utf-8"))
    return {entry["func"].split("(", 1)[0]: entry["func"] for entry in entries}


# Op name to the names of the arguments that the result may be written over.
IN_PLACE: dict[str, tuple[str, ...]] = read_in_place(OPERATORS_YAML)


def _out_schema(name: str, schema: str) -> str:
    arguments = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    return f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)"


def _out_function(name: str, function):
    def out_function(*args, out, **kwargs):
        result = function(*args, **kwargs)
        if out.shape != result.shape or out.dtype != result.dtype:
            raise ValueError(
                f"cortex_m::{name}.out: out is {out.dtype} {tuple(out.shape)}, "
                f"the result is {result.dtype} {tuple(result.shape)}"
            )
        return out.copy_(result)

    return out_function


def _register(library: Library) -> None:
    schemas = read_schemas()
    missing = sorted((set(schemas) - set(REFERENCES)) | (set(schemas) - set(FAKES)))
    unknown = sorted((set(REFERENCES) | set(FAKES)) - set(schemas))
    if missing or unknown:
        raise RuntimeError(
            f"operators.yaml and cortex_m/ops/reference disagree: no reference for {missing}, no schema for {unknown}"
        )
    for name, schema in schemas.items():
        library.define(schema)
        library.define(_out_schema(name, schema))
        library.impl(name, REFERENCES[name], "CompositeExplicitAutograd")
        library.impl(f"{name}.out", _out_function(name, REFERENCES[name]), "CompositeExplicitAutograd")
        torch.library.register_fake(f"{NAMESPACE}::{name}", FAKES[name], lib=library)
        torch.library.register_fake(f"{NAMESPACE}::{name}.out", lambda *args, out, **kwargs: out, lib=library)


_library = Library(NAMESPACE, "DEF")
_register(_library)
