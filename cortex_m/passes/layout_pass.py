"""Image tensors become NHWC inside, and stay NCHW for the user.

Before this pass the graph speaks of logical NCHW tensors. One walk keeps up to two forms of each int8 rank-4 value: the
NCHW node and its NHWC twin. Convolutions and pools take and give NHWC; elementwise ops follow an operand that is NHWC already; anything
else takes NCHW. A form that is missing is made where it is first wanted, once, and not at all where nobody wants it. So copies
remain only where a value is truly needed in both orders, and each is one cortex_m.transpose.
"""

from typing import Callable

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.qparams import torch_op

cortex_m = torch.ops.cortex_m

_TO_NHWC = [0, 2, 3, 1]
_TO_NCHW = [0, 3, 1, 2]


class LayoutPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        self.editor = editor
        self.nchw: dict[Node, Node] = {}
        self.nhwc: dict[Node, Node] = {}
        handlers: dict[torch._ops.OpOverload, Callable[[Node], bool]] = {
            cortex_m.quantized_conv2d.default: self._windowed,
            cortex_m.quantized_depthwise_conv2d.default: self._windowed,
            cortex_m.quantized_avg_pool2d.default: self._windowed,
            cortex_m.quantized_add.default: self._elementwise,
            cortex_m.pad.default: self._pad,
            cortex_m.softmax.default: self._softmax,
            cortex_m.transpose.default: self._transpose,
            torch.ops.aten.view_copy.default: self._view,
            cortex_m.quantize_per_tensor.default: self._quantize,
            cortex_m.dequantize_per_tensor.default: self._dequantize,
        }
        for node in list(editor.graph.nodes):
            handler = handlers.get(torch_op(node))
            if node._erased or (handler is not None and handler(node)):
                continue
            for source in node.all_input_nodes:
                if _is_image(source):
                    node.replace_input_with(source, self._as_nchw(source, node))

    # The two forms

    def _as_nchw(self, node: Node, before: Node) -> Node:
        if node not in self.nchw and node in self.nhwc:
            self.nchw[node] = emit_transpose(self.editor, self.nhwc[node], _TO_NCHW, before, before)
        if node not in self.nchw and torch_op(node) == cortex_m.quantize_per_tensor.default:
            if not _is_contiguous(node.args[0]):
                return self._as_nchw_by_nhwc(node, before)
        return self.nchw.setdefault(node, node)

    def _as_nchw_by_nhwc(self, node: Node, before: Node) -> Node:
        self._as_nhwc(node, before)
        return self._as_nchw(node, before)

    def _as_nhwc(self, node: Node, before: Node) -> Node:
        if node in self.nhwc:
            return self.nhwc[node]
        quantizes = torch_op(node) == cortex_m.quantize_per_tensor.default
        if quantizes and node not in self.nchw and not (_moves_nothing(node) and _is_contiguous(node.args[0])):
            value = self.editor.call("cortex_m::quantize_to_nhwc", node.args, node, node)
        else:
            value = self.nchw.setdefault(node, node)
            if node.op == "placeholder" and not _is_contiguous(node):
                raise ValueError(f"input {node.name} is int8 in another memory order than NCHW; make it contiguous")
            value = emit_transpose(self.editor, value, _TO_NHWC, before, before)
        self.nhwc[node] = value
        return value

    def _prefers_nhwc(self, node: Node) -> bool:
        return node in self.nhwc and node not in self.nchw

    # One handler for each kind of op; True if it took care of the node

    def _windowed(self, node: Node) -> bool:
        name = torch_op(node)._schema.name + "_nhwc"
        self.nhwc[node] = self.editor.call(name, (self._as_nhwc(node.args[0], node), *node.args[1:]), node, node)
        return True

    def _elementwise(self, node: Node) -> bool:
        images = [source for source in node.all_input_nodes if _is_image(source)]
        if not any(source in self.nhwc for source in images):
            return False
        if any(source.meta["val"].shape != node.meta["val"].shape for source in node.all_input_nodes):
            return False
        twins = {source: self._as_nhwc(source, node) for source in images}
        args = tuple(twins.get(arg, arg) if isinstance(arg, Node) else arg for arg in node.args)
        self.nhwc[node] = self.editor.call_target(node.target, args, node, node)
        return True

    def _pad(self, node: Node) -> bool:
        source, pre, post, fill = node.args
        if source not in self.nhwc:
            return False
        counts = ([amounts[dim] for dim in _TO_NHWC] for amounts in (pre, post))
        self.nhwc[node] = self.editor.call(
            "cortex_m::pad", (self.nhwc[source], *counts, fill), node, node
        )
        return True

    def _softmax(self, node: Node) -> bool:
        """The kernels go along the last dimension: channels of an NHWC image, or whatever a transpose brings there."""
        source, dim, *parameters = node.args
        rank = source.meta["val"].dim()
        if _is_image(source) and dim == 1:
            self.nhwc[node] = self.editor.call(
                "cortex_m::softmax", (self._as_nhwc(source, node), 3, *parameters), node, node
            )
            return True
        if dim == rank - 1:
            return False
        value = self._as_nchw(source, node) if _is_image(source) else source
        perm = [other for other in range(rank) if other != dim] + [dim]
        value = emit_transpose(self.editor, value, perm, node, node)
        value = self.editor.call("cortex_m::softmax", (value, rank - 1, *parameters), node, node)
        value = emit_transpose(self.editor, value, [perm.index(axis) for axis in range(rank)], node, node)
        self._settle(node, value)
        return True

    def _transpose(self, node: Node) -> bool:
        source, perm = node.args
        if not _is_image(source):
            return False
        if not self._prefers_nhwc(source):
            return False
        from_nhwc = [_TO_NCHW[dim] for dim in perm]
        self._settle(node, emit_transpose(self.editor, self.nhwc[source], from_nhwc, node, node))
        return True

    def _view(self, node: Node) -> bool:
        """Flattening an NHWC image for linear layers alone costs no copy: the layers' weights change order instead."""
        source, shape = node.args
        if not _is_image(source) or not self._prefers_nhwc(source) or _moves_nothing(source):
            return False
        n, c, h, w = source.meta["val"].shape
        linears = list(node.users)
        if list(shape) != [n, c * h * w] or not all(_is_linear_of(user, node) for user in linears):
            return False
        flat = emit_view(self.editor, self.nhwc[source], list(shape), node, node)
        for linear in linears:
            weights = self.editor.constant_value(linear.args[1])
            reordered = weights.reshape(-1, c, h, w).permute(0, 2, 3, 1).reshape(weights.shape)
            constant = self.editor.constant(reordered, f"{linear.args[1].name}_nhwc")
            linear.args = (flat, constant, *linear.args[2:])
        return True

    def _quantize(self, node: Node) -> bool:
        return _is_image(node)  # made when the first reader says in which form

    def _dequantize(self, node: Node) -> bool:
        source = node.args[0]
        if not _is_image(source) or not self._prefers_nhwc(source) or _moves_nothing(source):
            return False
        value = self.editor.call("cortex_m::dequantize_from_nhwc", (self.nhwc[source], *node.args[1:]), node, node)
        node.replace_all_uses_with(value)
        return True

    def _settle(self, node: Node, value: Node) -> None:
        """`value` is `node` in logical order; readers of a rank-4 value find it as the NCHW form."""
        if _is_image(node):
            self.nchw[node] = value
        else:
            node.replace_all_uses_with(value)


def _is_image(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dim() == 4 and value.dtype == torch.int8


def _is_contiguous(node: Node) -> bool:
    return node.meta["val"].is_contiguous()


def _moves_nothing(node: Node) -> bool:
    """True if NCHW and NHWC order of this image are the same bytes."""
    _, c, h, w = node.meta["val"].shape
    return c == 1 or h * w == 1


def _is_linear_of(node: Node, source: Node) -> bool:
    linear = (cortex_m.quantized_linear.default, cortex_m.quantized_linear_per_channel.default)
    return torch_op(node) in linear and node.args[0] is source
