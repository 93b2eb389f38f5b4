"""Products of two int8 tensors, of any rank: quantized_batch_matmul."""

import math

import torch
from torch.fx import Node

from cortex_m.host import library
from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.requantize import emit_requantize

aten = torch.ops.aten


@lowers(aten.matmul.default, aten.mm.default, aten.bmm.default)
def lower_matmul(lowering: Lowering, node: Node) -> None:
    left, left_params = lowering.quantized_input(node, 0)
    right, right_params = lowering.quantized_input(node, 1)
    result = lowering.quantized_output(node)
    left_shape, right_shape = (list(operand.meta["val"].shape) for operand in (left, right))
    if min(len(left_shape), len(right_shape)) < 2:
        raise Refusal("a product of vectors has no lowering; give them a dimension of 1")
    (rows, depth), columns = left_shape[-2:], right_shape[-1]
    try:
        multiplier, shift = quantize_multiplier(left_params.scale * right_params.scale / result.params.scale)
    except ValueError as error:
        raise Refusal(str(error)) from error
    farthest = math.prod(
        max(params.quant_max - params.zero_point, params.zero_point - params.quant_min)
        for params in (left_params, right_params)
    )
    if depth * farthest << max(shift, 0) > INT32_MAX - 256:
        raise Refusal(f"a sum of {depth} products can leave int32, shifted by {max(shift, 0)} bits")
    lefts, rights = _batches(left_shape[:-2], right_shape[:-2])
    if len(lefts) == 1 and rights == [1]:  # one right matrix for all: rows of one product
        rows *= lefts[0]
        lefts = [1]

    editor = lowering.editor
    right = _transposed(editor, right, right_shape, node)
    left = emit_view(editor, left, [*lefts, rows, depth], node, node)
    right = emit_view(editor, right, [*rights, columns, depth], node, node)
    size = lowering.scratch_size(library.batch_matmul_scratch_size, depth=depth, columns=columns)
    value = lowering.emit(
        "cortex_m::quantized_batch_matmul",
        (
            left, -left_params.zero_point, right, -right_params.zero_point, result.params.zero_point,
            multiplier, shift, lowering.scratch(size, node),
        ),
        node,
    )  # fmt: skip
    value = emit_view(editor, value, list(node.meta["val"].shape), node, node)
    # A clamp whose bounds are the rails is what every int8 output does.
    value = emit_requantize(editor, value, result.params, result.params, node, node, result.low, result.high)
    lowering.replace(result, value)


def _transposed(editor, right: Node, shape: list[int], node: Node) -> Node:
    """`right` with its last two dimensions exchanged; above rank 4 its batch dims are one then."""
    if len(shape) > 4:
        right = emit_view(editor, right, [math.prod(shape[:-2]), *shape[-2:]], node, node)
    rank = min(len(shape), 4) if len(shape) <= 4 else 3
    perm = [*range(rank - 2), rank - 1, rank - 2]
    return emit_transpose(editor, right, perm, node, node)


def _batches(left: list[int], right: list[int]) -> tuple[list[int], list[int]]:
    """Batch sizes of both operands with one or two dims, which broadcast as the given ones do.

    Neighbouring dims are one where both operands serve them in the same way.
    """
    rank = max(len(left), len(right))
    left, right = ([1] * (rank - len(sizes)) + sizes for sizes in (left, right))
    merged: list[list[int]] = []
    kinds: list[tuple[bool, bool]] = []
    for a, b in zip(left, right):
        if a == b == 1:
            continue
        kind = (a >= b, b >= a)
        if kinds and kinds[-1] == kind:
            merged[-1] = [merged[-1][0] * a, merged[-1][1] * b]
        else:
            merged.append([a, b])
            kinds.append(kind)
    if len(merged) > 2:
        raise Refusal(f"its batch dims are broadcast in {len(merged)} different ways by turns; at most 2")
    merged = merged or [[1, 1]]
    return [a for a, _ in merged], [b for _, b in merged]
