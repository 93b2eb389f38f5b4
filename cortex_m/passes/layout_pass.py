"""Image tensors become NHWC inside, and stay NCHW for the user.

Before this pass the graph speaks of logical NCHW tensors. One walk keeps up to two forms of each int8 rank-4 value: the
NCHW node and its NHWC twin. Convolutions and pools take and give NHWC; elementwise ops follow an operand that is NHWC already; anything
else takes NCHW. A form that is missing is made where it is first wanted, once, and not at all where nobody wants it. So copies
remain only where a value is truly needed in both orders, and each is one cortex_m.transpose. The rules for the ops are in `layout`.
"""

import torch

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.layout import (  # noqa: F401  (imported for the rules they register)
    boundaries,
    elementwise,
    movement,
    portable_movement,
    windows,
)
from cortex_m.passes.layout.forms import Forms, is_image
from cortex_m.passes.layout.registry import LAYOUT_RULES
from cortex_m.passes.qparams import torch_op

_VIEW = torch.ops.aten.view_copy.default


class LayoutPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        _join_views(editor)
        forms = Forms(editor)
        for node in list(editor.graph.nodes):
            rule = LAYOUT_RULES.get(torch_op(node))
            if node._erased or (rule is not None and rule(forms, node)):
                continue
            for source in node.all_input_nodes:
                if is_image(source):
                    node.replace_input_with(source, forms.as_nchw(source, node))


def _join_views(editor: GraphEditor) -> None:
    """A view of a view is one of what that one views: so a rule sees where a value comes from."""
    for node in list(editor.graph.nodes):
        if torch_op(node) != _VIEW:
            continue
        if torch_op(node.args[0]) == _VIEW:
            previous = node.args[0]
            node.args = (previous.args[0], *node.args[1:])
            editor.erase_if_unused(previous)
        if node.meta["val"].shape == node.args[0].meta["val"].shape:
            editor.replace(node, node.args[0])
            editor.erase_if_unused(node)
