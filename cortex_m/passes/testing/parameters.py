"""The parameters of requantization that a lowered program has, as the exact oracle notes them."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from cortex_m.passes.qparams import torch_op


def parameters(program: ExportedProgram) -> set[tuple]:
    """("pair", multiplier, shift), ("quotient", scale), ("diff_min", d) and ("quantize", scale, zero point, low, high) of all calls."""
    signature = program.graph_signature
    names = {
        **signature.inputs_to_buffers,
        **signature.inputs_to_parameters,
        **signature.inputs_to_lifted_tensor_constants,
    }
    tensors = {**program.state_dict, **program.constants}
    found: set[tuple] = set()

    def numbers(argument: Any) -> list:
        if isinstance(argument, Node):
            return tensors[names[argument.name]].tolist()
        return list(argument) if isinstance(argument, (list, tuple)) else [argument]

    for node in program.graph.nodes:
        op = torch_op(node)
        if op is None or op.namespace != "cortex_m":
            continue
        given = dict(zip((argument.name for argument in op._schema.arguments), node.args))
        for name, multipliers in given.items():
            if "multiplier" in name and name != "depth_multiplier":
                shifts = given[name.replace("multiplier", "shift")]
                found.update(("pair", *pair) for pair in zip(numbers(multipliers), numbers(shifts), strict=True))
        if "diff_min" in given:
            found.add(("diff_min", given["diff_min"]))
        if op == torch.ops.cortex_m.quantized_div.default:
            found.add(("quotient", given["output_scale"]))
        if op.__name__.startswith(("quantize_per_tensor", "quantize_to_nhwc")):
            found.add(("quantize", *node.args[1:5]))
    return found
