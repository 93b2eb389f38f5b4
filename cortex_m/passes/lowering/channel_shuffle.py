"""aten.channel_shuffle on float tensors: there is no kernel for it, so it becomes two views and a permutation.

On int8 the layout pass does the like, as it knows in which order the image is.
"""

import torch
from torch.fx import Node

from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_view
from cortex_m.passes.lowering.registry import lowers


@lowers(torch.ops.aten.channel_shuffle.default)
def lower_channel_shuffle(lowering: Lowering, node: Node) -> None:
    source, groups = node.args
    n, c, *rest = source.meta["val"].shape
    value = emit_view(lowering.editor, source, [n, groups, c // groups, *rest], node, node)
    perm = [0, 2, 1, *range(3, 3 + len(rest))]
    value = lowering.editor.call("aten::permute_copy", (value, perm), node, node)
    lowering.editor.replace(node, emit_view(lowering.editor, value, [n, c, *rest], node, node))
    lowering.editor.erase_if_unused(node)
