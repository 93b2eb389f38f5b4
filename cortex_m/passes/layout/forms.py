"""The two forms of an int8 image: the NCHW node and its NHWC twin, each made where it is first wanted."""

from collections.abc import Sequence

import torch
from torch.fx import Node

from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.movement import emit_transpose
from cortex_m.passes.model_value import note_same
from cortex_m.passes.qparams import torch_op

TO_NHWC = [0, 2, 3, 1]  # NHWC dimension d is NCHW dimension TO_NHWC[d]
TO_NCHW = [0, 3, 1, 2]  # NCHW dimension d is NHWC dimension TO_NCHW[d]

_QUANTIZE = torch.ops.cortex_m.quantize_per_tensor.default


class Forms:
    """What the rules share. `nchw` and `nhwc` map a node of the graph before the pass to its forms as far as they exist."""

    def __init__(self, editor: GraphEditor) -> None:
        self.editor = editor
        self.nchw: dict[Node, Node] = {}
        self.nhwc: dict[Node, Node] = {}

    def as_nchw(self, node: Node, before: Node) -> Node:
        """The NCHW form of the image `node`, made ahead of `before` where it is missing."""
        missing = node not in self.nchw and node not in self.nhwc
        if missing and torch_op(node) == _QUANTIZE and not is_contiguous(node.args[0]):
            self.as_nhwc(node, before)
        if node not in self.nchw and node in self.nhwc:
            self.nchw[node] = emit_transpose(self.editor, self.nhwc[node], TO_NCHW, before, before)
            note_same(node, self.nchw[node])
        return self.nchw.setdefault(node, node)

    def as_nhwc(self, node: Node, before: Node) -> Node:
        """The NHWC form of the image `node`, made ahead of `before` where it is missing."""
        if node in self.nhwc:
            return self.nhwc[node]
        quantizes = torch_op(node) == _QUANTIZE
        if quantizes and node not in self.nchw and not (moves_nothing(node) and is_contiguous(node.args[0])):
            value = self.editor.call("cortex_m::quantize_to_nhwc", node.args, node, node)
        else:
            value = self.nchw.setdefault(node, node)
            if node.op == "placeholder" and not is_contiguous(node):
                raise ValueError(f"input {node.name} is int8 in another memory order than NCHW; make it contiguous")
            value = emit_transpose(self.editor, value, TO_NHWC, before, before)
            note_same(node, value)
        self.nhwc[node] = value
        return value

    def prefers_nhwc(self, node: Node) -> bool:
        """True if `node` exists as NHWC alone."""
        return node in self.nhwc and node not in self.nchw

    def follows(self, node: Node, sources: Sequence[Node]) -> bool:
        """Whether an op that can work in either order should take NHWC.

        So it is if one of its sources is NHWC already, or if all of them are yet to be quantized, in whatever order is wanted,
        and a convolution or pool comes after it.
        """
        if any(source in self.nhwc for source in sources):
            return True
        undecided = all(torch_op(source) == _QUANTIZE and source not in self.nchw for source in sources)
        return undecided and leads_to_nhwc(node)

    def settle(self, node: Node, value: Node) -> None:
        """`value` is `node` in logical order; readers of a rank-4 value find it as the NCHW form."""
        if is_image(node):
            self.nchw[node] = value
        else:
            self.editor.replace(node, value)


def leads_to_nhwc(node: Node) -> bool:
    """True if the value of `node` reaches an op that takes NHWC alone, through images only."""
    seen: set[Node] = set()
    waiting = list(node.users)
    while waiting:
        user = waiting.pop()
        op = torch_op(user)
        if user in seen or op is None:
            continue
        seen.add(user)
        if takes_nhwc_alone(op):
            return True
        if is_image(user):
            waiting.extend(user.users)
    return False


def takes_nhwc_alone(op: torch._ops.OpOverload) -> bool:
    """True for an op, not yet laid out, that will take an image as NHWC whatever its neighbours do."""
    if op.namespace != "cortex_m":
        return False
    return op is torch.ops.cortex_m.quantized_prelu.default or hasattr(torch.ops.cortex_m, f"{op._opname}_nhwc")


def is_image(node: Node) -> bool:
    """True for an int8 tensor of rank 4."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dim() == 4 and value.dtype == torch.int8


def is_contiguous(node: Node) -> bool:
    return node.meta["val"].is_contiguous()


def moves_nothing(node: Node) -> bool:
    """True if NCHW and NHWC order of this image are the same bytes."""
    _, c, h, w = node.meta["val"].shape
    return c == 1 or h * w == 1
