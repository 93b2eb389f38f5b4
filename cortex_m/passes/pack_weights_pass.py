"""Replaces operators by those whose weights are packed for the target core's kernel, where the kernel library says that it pays."""

from typing import Any

import torch
from executorch.exir import memory
from torch.fx import Node

from cortex_m.host.packing import pack_convolution, pack_linear
from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import torch_op

_CONV2D = torch.ops.cortex_m.quantized_conv2d_nhwc.default
_LINEAR = torch.ops.cortex_m.quantized_linear_per_channel.default
_DEPTHWISE = torch.ops.cortex_m.quantized_depthwise_conv2d_nhwc.default


class PackWeightsPass(CortexMPass):
    """The same results, bit for bit: cortex_m::packed_conv2d_nhwc for quantized_conv2d_nhwc, packed_depthwise_conv2d_nhwc for
    quantized_depthwise_conv2d_nhwc, packed_linear for quantized_linear_per_channel. Nothing for a target that is any core, or that says portable_program."""

    def run(self, editor: GraphEditor) -> None:
        if not self.target_config.packs_weights:
            return
        for node in list(editor.graph.nodes):
            if torch_op(node) == _CONV2D:
                self._pack_convolution(editor, node, "cortex_m::packed_conv2d_nhwc", False, node.args)
            elif torch_op(node) == _DEPTHWISE and node.args[6] == 1:  # depth_multiplier
                args = node.args[:6] + node.args[7:]
                self._pack_convolution(editor, node, "cortex_m::packed_depthwise_conv2d_nhwc", True, args)

            elif torch_op(node) == _LINEAR and node.args[3] == 0:  # input_offset: in the bias
                self._pack_linear(editor, node)

    def _pack_linear(self, editor: GraphEditor, node: Node) -> None:
        x, weights, bias, _, output_offset, multipliers, shifts, low, high = node.args
        values: list[Any] = [editor.constant_value(value) for value in (weights, bias, multipliers, shifts)]
        if any(value is None for value in values if value is not values[1]) or (bias is not None and values[1] is None):
            return
        made = pack_linear(self.target_config.backend, *values)
        if made is None:
            return
        packed = editor.constant(made.packed, f"{node.name}_packed")
        scratch = editor.call_target(memory.alloc, (((made.scratch_bytes,), torch.uint8),), node, node)
        args = (x, packed, made.packing, len(values[0]), output_offset, low, high, scratch)
        node.replace_all_uses_with(editor.call("cortex_m::packed_linear", args, node, node))
        editor.erase_if_unused(node)

    def _pack_convolution(self, editor: GraphEditor, node: Node, name: str, depthwise: bool, args: tuple) -> None:
        x, weight, bias, stride, padding, dilation, input_offset, output_offset, multipliers, shifts, low, high, _ = (
            args
        )
        constants: list[Any] = [editor.constant_value(value) for value in (weight, multipliers, shifts)]
        bias_values = editor.constant_value(bias)
        if any(value is None for value in constants) or (bias is not None and bias_values is None):
            return
        weight_values, multiplier_values, shift_values = constants
        made = pack_convolution(
            self.target_config.backend, x.meta["val"].shape, weight_values, node.meta["val"].shape, stride, padding, dilation,
            input_offset, bias_values, multiplier_values, shift_values, depthwise,
        )  # fmt: skip
        if made is None:
            return
        channels, kernel = node.meta["val"].shape[3], list(weight_values.shape[1:3])
        packed = editor.constant(made.packed, f"{node.name}_packed")
        scratch = editor.call_target(memory.alloc, (((made.scratch_bytes,), torch.uint8),), node, node)
        call = editor.call(
            name,
            (
                x, packed, made.packing, channels, kernel, stride, padding, dilation, input_offset, output_offset, low, high,
                scratch,
            ),
            node,
            node,
        )  # fmt: skip
        editor.replace(node, call)
        editor.erase_if_unused(node)
