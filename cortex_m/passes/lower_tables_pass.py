"""Replaces functions of one int8 tensor, however many operators they are, by table look-ups."""

from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.registry import Refusal
from cortex_m.passes.lowering.table import entries, find_function
from cortex_m.passes.qparams import QParams, quantize_params


class LowerTablesPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        made: dict[tuple[Node, QParams], Node] = {}
        for quantize in list(editor.graph.nodes):
            params = quantize_params(quantize)
            if quantize._erased or params is None or not params.is_int8 or editor.constant_value(quantize) is not None:
                continue
            result = quantize.args[0]
            if (result, params) not in made:
                function = find_function(editor, result)
                if function is None:
                    continue
                try:
                    table = entries(function.values(), params)
                except Refusal as refusal:
                    self.report.refuse(result, str(refusal))
                    continue
                lut = editor.constant(table, f"{result.name}_lut")
                arguments = (function.source.args[0], lut)
                made[result, params] = editor.call("cortex_m::quantized_activation", arguments, quantize, result)
            editor.replace(quantize, made[result, params])
            editor.erase_if_unused(quantize)
