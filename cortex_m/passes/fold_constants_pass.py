"""Computes on the host what depends on constants alone."""

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor


class FoldConstantsPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in list(editor.graph.nodes):
            if node.op != "call_function" or node._erased or editor.constant_value(node) is None:
                continue
            if not node.all_input_nodes:
                continue  # an op that fills a tensor takes less of the program than its contents
            readers = [user for user in node.users if editor.constant_value(user) is None]
            if not readers:
                continue  # an intermediate of a larger constant
            constant = editor.constant(editor.constant_value(node), f"{node.name}_value")
            for reader in readers:
                reader.replace_input_with(node, constant)
            editor.erase_if_unused(node)
