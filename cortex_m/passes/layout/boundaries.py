"""Where a float tensor becomes int8 and where it becomes float again: the change of order is part of that step."""

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import Forms, is_image, moves_nothing
from cortex_m.passes.layout.registry import lays_out

cortex_m = torch.ops.cortex_m


@lays_out(cortex_m.quantize_per_tensor.default)
def quantize(forms: Forms, node: Node) -> bool:
    return is_image(node)  # made when the first reader says in which form


@lays_out(cortex_m.dequantize_per_tensor.default)
def dequantize(forms: Forms, node: Node) -> bool:
    source = node.args[0]
    if not is_image(source) or not forms.prefers_nhwc(source) or moves_nothing(source):
        return False
    value = forms.editor.call("cortex_m::dequantize_from_nhwc", (forms.nhwc[source], *node.args[1:]), node, node)
    forms.editor.replace(node, value)
    return True
