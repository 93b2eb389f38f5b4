"""Edits the graph of an ExportedProgram in place: typed new nodes, constants in and out, outputs kept in step.

Interpreting the whole graph once for each pass is what makes lowering slow. Here a new node gets its fake value when it is
made, by running its op's shape function on the fake values of its arguments, and nothing else runs.
"""

from typing import Any

import torch
from executorch.exir.dialects._ops import ops as exir_ops
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Node
from torch.fx.node import map_arg

from cortex_m.passes.model_value import note_made_for, note_replacement
from cortex_m.passes.qparams import torch_op

# What a new node takes over from the node it was made for: where in the user's source it comes from.
_ORIGIN = (
    "stack_trace",
    "nn_module_stack",
    "source_fn_stack",
    "torch_fn",
    "original_aten",
    "from_node",
    "debug_handle",
)
# Ops without tensor inputs that give the same constant each time.
_CREATIONS = {"aten::arange", "aten::full", "aten::ones", "aten::scalar_tensor", "aten::zeros"}
_CONSTANT_KINDS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def edge_op(name: str, overload: str = "default"):
    """The edge dialect's op of a qualified name: edge_op("cortex_m::pad")."""
    namespace, op = name.split("::")
    return getattr(getattr(getattr(exir_ops.edge, namespace), op), overload)


class GraphEditor:
    """One pass's hands on `program`, which it changes; `finish` leaves graph and signature consistent."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.graph = program.graph_module.graph
        values = [node.meta.get("val") for node in self.graph.nodes]
        self.fake_mode = detect_fake_mode([value for value in values if isinstance(value, torch.Tensor)])
        self._values: dict[Node, torch.Tensor | None] = {}
        signature = program.graph_signature
        mutated = set(signature.buffers_to_mutate.values())
        self._constants = {
            spec.arg.name: spec
            for spec in signature.input_specs
            if spec.kind in _CONSTANT_KINDS and spec.target not in mutated
        }

    # Nodes

    def call(
        self, name: str, args: tuple, before: Node, origin: Node, kwargs: dict | None = None, overload: str = "default"
    ) -> Node:  # fmt: skip
        """A call of the edge op `name` ("namespace::op"), inserted ahead of `before`."""
        return self.call_target(edge_op(name, overload), args, before, origin, kwargs)

    def call_target(self, target: Any, args: tuple, before: Node, origin: Node, kwargs: dict | None = None) -> Node:
        with self.graph.inserting_before(before):
            node = self.graph.call_function(target, args, kwargs or {})
        node.meta.update({key: origin.meta[key] for key in _ORIGIN if key in origin.meta})
        self.update_value(node)
        note_made_for(origin, node)
        return node

    def update_value(self, node: Node) -> None:
        """Recomputes the fake value of `node` from those of its arguments."""
        args = map_arg(node.args, lambda arg: arg.meta["val"])
        kwargs = map_arg(node.kwargs, lambda arg: arg.meta["val"])
        with self.fake_mode, torch.no_grad():
            node.meta["val"] = node.target(*args, **kwargs)

    def erase_if_unused(self, node: Any) -> None:
        """Erases a call that has no users, then whatever fed only it."""
        if not isinstance(node, Node) or node.op != "call_function" or node.users or node._erased:
            return
        inputs = node.all_input_nodes
        self.graph.erase_node(node)
        for producer in inputs:
            self.erase_if_unused(producer)

    def replace(self, old: Node, new: Node) -> None:
        """Readers of `old` read `new` instead, which from now on stands for the same value of the model."""
        note_replacement(old, new)
        old.replace_all_uses_with(new)

    # Constants

    def constant(self, tensor: torch.Tensor, name: str) -> Node:
        """A new constant of the program, as a placeholder ahead of the user's inputs."""
        signature = self.program.graph_signature
        specs = list(signature.input_specs)
        placeholders = [node for node in self.graph.nodes if node.op == "placeholder"]
        index = next((i for i, spec in enumerate(specs) if spec.kind == InputKind.USER_INPUT), len(specs))
        anchor = (
            placeholders[index]
            if index < len(placeholders)
            else next(node for node in self.graph.nodes if node.op != "placeholder")
        )
        taken = {node.name for node in self.graph.nodes} | set(self.program._state_dict)
        unique, count = name, 0
        while unique in taken:
            count += 1
            unique = f"{name}_{count}"
        tensor = tensor.detach().contiguous()
        with self.graph.inserting_before(anchor):
            node = self.graph.placeholder(unique)
        node.meta["val"] = self.fake_mode.from_tensor(tensor, static_shapes=True)
        if node.name != unique:
            raise ValueError(f"the constant name {unique!r} is no identifier of its own")
        spec = InputSpec(InputKind.BUFFER, TensorArgument(name=unique), target=unique, persistent=True)
        specs.insert(index, spec)
        self._set_signature(specs, signature.output_specs)
        self.program._state_dict[unique] = tensor
        self._constants[unique] = spec
        self._values[node] = tensor
        return node

    def constant_value(self, node: Any) -> torch.Tensor | None:
        """The tensor a node always has, because it is a constant or computed from constants alone; else None."""
        if not isinstance(node, Node):
            return None
        if node not in self._values:
            self._values[node] = self._evaluate(node)
        return self._values[node]

    def _evaluate(self, node: Node) -> torch.Tensor | None:
        if node.op == "placeholder":
            spec = self._constants.get(node.name)
            if spec is None:
                return None
            value = self.program.state_dict.get(spec.target)
            return self.program.constants.get(spec.target) if value is None else value
        op = torch_op(node)
        if op is None or torch.Tag.nondeterministic_seeded in op.tags:
            return None
        if not node.all_input_nodes and op._schema.name not in _CREATIONS:
            return None
        if any(self.constant_value(producer) is None for producer in node.all_input_nodes):
            return None
        args = map_arg(node.args, self.constant_value)
        kwargs = map_arg(node.kwargs, self.constant_value)
        with torch.no_grad():
            value = node.target(*args, **kwargs)
        return value if isinstance(value, torch.Tensor) else None

    # The end of a pass

    def finish(self) -> None:
        """Drops dead calls and unused constants, brings the signature in step with the graph, and checks the graph."""
        self.graph.eliminate_dead_code(is_impure_node=lambda node: node.op in ("placeholder", "output"))
        signature = self.program.graph_signature
        placeholders = {node.name: node for node in self.graph.nodes if node.op == "placeholder"}
        specs = []
        for spec in signature.input_specs:
            node = placeholders.get(getattr(spec.arg, "name", None))
            if node is not None and not node.users and spec.arg.name in self._constants:
                self.graph.erase_node(node)
                self._constants.pop(spec.arg.name)
            else:
                specs.append(spec)
        self._set_signature(specs, self._output_specs(signature.output_specs))
        used = {spec.target for spec in specs if spec.target is not None}
        for table in (self.program._state_dict, self.program._constants):
            for name in [name for name, value in table.items() if name not in used and isinstance(value, torch.Tensor)]:
                del table[name]
        self.graph.lint()
        self.program.graph_module.recompile()

    def _output_specs(self, specs: list[OutputSpec]) -> list[OutputSpec]:
        results = self.graph.output_node().args[0]
        return [
            OutputSpec(spec.kind, TensorArgument(name=result.name), spec.target)
            if isinstance(result, Node) and isinstance(spec.arg, TensorArgument)
            else spec
            for spec, result in zip(specs, results, strict=True)
        ]

    def _set_signature(self, inputs: list[InputSpec], outputs: list[OutputSpec]) -> None:
        self.program._graph_signature = ExportGraphSignature(input_specs=list(inputs), output_specs=list(outputs))
