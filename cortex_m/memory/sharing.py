"""Which tensors of a program may lie in each other's place, found in the graph that memory is planned for.

Three kinds:
  a copy left out   cat along the outermost dimension: its parts are written where they are wanted, and no cat runs. So for a
                    slice along the outermost dimension: it is a look at what it is a slice of.
  in place          an elementwise operator writes over an operand that nobody reads any more (`in_place` in operators.yaml).

"Outermost" goes by memory: all dimensions outside the one in question have size 1. Each tensor begins at a multiple of 16 bytes,
as the device's runtime requires; a copy stays where a part would not.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable, Iterator

import torch
from executorch.exir import memory
from executorch.exir.memory_planning import get_node_tensor_specs, update_all_tensors_lifetime
from executorch.exir.tensor import TensorSpec
from torch.export.exported_program import ExportGraphSignature
from torch.fx import GraphModule, Node

from cortex_m.memory.placement import DEFAULT_ALIGNMENT, Part, Storage
from cortex_m.ops.operators import IN_PLACE, NAMESPACE

aten = torch.ops.aten

# Nodes without an instruction in the program.
_NO_INSTRUCTION = (memory.alloc, memory.view, memory.free, operator.getitem)


class Groups:
    """Tensors in one storage, at fixed distances.

    Some hold the same: a slice what it is a slice of, the parts of a cat its result. They may overlap at any time, since
    none is written but once, and only by what makes it.
    """

    def __init__(self) -> None:
        self._members: dict[TensorSpec, list[tuple[TensorSpec, int]]] = {}  # one list for all of a group
        self._content: dict[TensorSpec, TensorSpec] = {}  # one of those that hold the same

    def members(self, spec: TensorSpec) -> list[tuple[TensorSpec, int]]:
        """(tensor, offset) of all in the storage of `spec`; offsets count from the storage's first byte."""
        found = self._members.get(spec, [(spec, 0)])
        lowest = min(offset for _, offset in found)
        return [(member, offset - lowest) for member, offset in found]

    def join(self, whole: TensorSpec, parts: Iterable[tuple[TensorSpec, int]], same_content: bool) -> bool:
        """Puts each part at its offset in `whole`; False, and nothing, if tensors of their storages would collide.

        With same_content the parts hold what `whole` holds there; else `whole` is written over them.
        """
        parts = list(parts)
        if any(part.mem_id != whole.mem_id for part, _ in parts):
            return False  # somebody wants them in different memories
        content = {self._content.get(part, part): self._content.get(whole, whole) for part, _ in parts if same_content}
        pairs = {(whole, part) for part, _ in parts} | {(part, whole) for part, _ in parts}

        def held(spec: TensorSpec) -> TensorSpec:
            own = self._content.get(spec, spec)
            return content.get(own, own)

        joined = dict(self._from(whole))
        for part, offset in parts:
            new = {member: offset + distance for member, distance in self._from(part)}
            if any(joined.get(member, place) != place for member, place in new.items()):
                return False
            for member, place in new.items():
                for other, there in joined.items() if member not in joined else ():
                    if (member, other) in pairs or held(member) is held(other):
                        continue
                    if _collide(member, place, other, there):
                        return False
            joined.update(new)
        group = list(joined.items())
        self._members.update(dict.fromkeys(joined, group))
        self._content.update({member: held(member) for member in joined})
        return True

    def _from(self, spec: TensorSpec) -> list[tuple[TensorSpec, int]]:
        """The members, with offsets that count from `spec`."""
        members = self._members.get(spec, [(spec, 0)])
        (own,) = [offset for member, offset in members if member is spec]
        return [(member, offset - own) for member, offset in members]

    def storage(self, spec: TensorSpec) -> Storage:
        return Storage(tuple(Part(offset, member.nbytes(), *member.lifetime) for member, offset in self.members(spec)))


def _collide(one: TensorSpec, at: int, other: TensorSpec, there: int) -> bool:
    together = one.lifetime[0] <= other.lifetime[1] and other.lifetime[0] <= one.lifetime[1]
    return together and at < there + other.nbytes() and there < at + one.nbytes()


@dataclasses.dataclass
class Sharing:
    """What `share` found.

    copies: groups of the copies left out. in_place: these, and what is written in place.
    left_out: positions, among the instructions that the graph had, of those that it no longer has.
    """

    copies: Groups = dataclasses.field(default_factory=Groups)
    in_place: Groups = dataclasses.field(default_factory=Groups)
    left_out: list[int] = dataclasses.field(default_factory=list)


def share(
    graph_module: GraphModule,
    signature: ExportGraphSignature | None,
    inputs_are_planned: bool,
    outputs_are_planned: bool,
) -> Sharing:
    """Finds what can share memory, and takes the copies that are not needed out of the graph, which must be in out form.

    A tensor that the caller brings memory for is left alone.
    """
    graph = graph_module.graph
    _move_allocations(graph_module)
    update_all_tensors_lifetime(graph_module, signature)
    nodes = list(graph.nodes)
    results = {id(spec) for node in graph.output_node().all_input_nodes for spec in get_node_tensor_specs(node)}
    planned = {id(node.meta["spec"]) for node in nodes if node.target is memory.alloc and "spec" in node.meta}
    if inputs_are_planned:
        planned |= {id(spec) for node in nodes if _is_input(node, signature) for spec in get_node_tensor_specs(node)}
    if not outputs_are_planned:
        planned -= results
    shared = Sharing()
    for position, node in enumerate(_instructions(nodes)):
        whole, parts = _copied_parts(node)
        specs = [whole, *(part for part, _ in parts)]
        if not parts or not all(id(spec) in planned and not spec.const for spec in specs):
            continue
        # A result has memory of its own: executorch's runtime lets the caller bring other memory for it.
        if id(node.meta["spec"]) in results or (node.target is aten.cat.out and not _are_made_for(node, results)):
            continue
        if shared.copies.join(whole, parts, same_content=True):
            shared.in_place.join(whole, parts, same_content=True)
            shared.left_out.append(position)
            _leave_out(node)
    for index, node in enumerate(nodes):
        for operand in _overwritable(node):
            (spec,) = get_node_tensor_specs(operand)
            dies = spec.lifetime[1] == index
            if id(spec) in planned and id(node.meta["spec"]) in planned and dies and not spec.const:
                if shared.in_place.join(node.meta["spec"], [(spec, 0)], same_content=False):
                    break
    graph_module.recompile()
    return shared


def _instructions(nodes: Iterable[Node]) -> Iterator[Node]:
    return (node for node in nodes if node.op == "call_function" and node.target not in _NO_INSTRUCTION)


def _move_allocations(graph_module: GraphModule) -> None:
    """A tensor lives from its first use on, wherever its memory is asked for."""
    order = {node: index for index, node in enumerate(graph_module.graph.nodes)}
    for node in list(graph_module.graph.nodes):
        if node.target is memory.alloc and node.users:
            min(node.users, key=order.__getitem__).prepend(node)


def _is_input(node: Node, signature: ExportGraphSignature | None) -> bool:
    """Whether it is an input of the program; not a buffer, which may change while a slice of it is in use."""
    return node.op == "placeholder" and (signature is None or node.target in signature.user_inputs)


def _are_made_for(cat: Node, results: set[int]) -> bool:
    """Whether each operand of `cat` is written by an instruction, and is no result of the program."""
    bases = [source.args[0] if source.target is memory.view else source for source in cat.args[0]]
    return all(base.op == "call_function" and id(base.meta["spec"]) not in results for base in bases)


def _leave_out(node: Node) -> None:
    """A view of the tensor it wrote: the emitter writes no instruction for that."""
    out = node.kwargs["out"]
    out.meta["spec"] = node.meta["spec"]
    node.args, node.kwargs, node.target = (out, list(node.meta["spec"].shape)), {}, memory.view


def _copied_parts(node: Node) -> tuple[TensorSpec | None, list[tuple[TensorSpec, int]]]:
    """The tensor that has the bytes of a copy, and the offsets of its parts; no parts if `node` does more than copying."""
    if node.target is aten.cat.out:
        return _cat_parts(node)
    if node.target in (aten.slice_copy.Tensor_out, aten.select_copy.int_out, aten.narrow_copy.out):
        return _slice_parts(node)
    return None, []


def _cat_parts(node: Node) -> tuple[TensorSpec | None, list[tuple[TensorSpec, int]]]:
    out: TensorSpec = node.meta["spec"]
    dim = (node.args[1] if len(node.args) > 1 else 0) % len(out.shape)
    layouts = [source.meta.get("spec") for source in node.args[0]]
    if not all(isinstance(layout, TensorSpec) for layout in layouts) or not _is_outermost(out, dim):
        return None, []
    if any(layout.dtype != out.dtype or list(layout.dim_order) != list(out.dim_order) for layout in layouts):
        return None, []
    parts, offset = [], 0
    for source in node.args[0]:
        (spec,) = get_node_tensor_specs(source)
        parts.append((spec, offset))
        offset += spec.nbytes()
    apart = len({id(spec) for spec, _ in parts}) == len(parts) and all(spec.nbytes() for spec, _ in parts)
    if not apart or offset != out.nbytes() or any(place % DEFAULT_ALIGNMENT for _, place in parts):
        return None, []
    return out, parts


def _slice_parts(node: Node) -> tuple[TensorSpec | None, list[tuple[TensorSpec, int]]]:
    source, dim, *rest = node.args if len(node.args) > 1 else (*node.args, 0)
    layout, out = source.meta.get("spec"), node.meta["spec"]
    if not isinstance(layout, TensorSpec) or not layout.shape or layout.nbytes() == 0 or out.nbytes() == 0:
        return None, []
    dim %= len(layout.shape)
    step = rest[2] if node.target is aten.slice_copy.Tensor_out and len(rest) > 2 else 1
    order = [place for place in layout.dim_order if node.target is not aten.select_copy.int_out or place != dim]
    if node.target is aten.select_copy.int_out:
        order = [place - (place > dim) for place in order]
    if step != 1 or not _is_outermost(layout, dim) or order != list(out.dim_order) or layout.dtype != out.dtype:
        return None, []
    size = layout.shape[dim]
    start = (rest[0] if rest else None) or 0
    start = min(max(start + size if start < 0 else start, 0), size)
    (whole,) = get_node_tensor_specs(source)
    offset = start * (layout.nbytes() // size)
    if offset % DEFAULT_ALIGNMENT or offset + out.nbytes() > whole.nbytes():
        return None, []
    return whole, [(out, offset)]


def _is_outermost(spec: TensorSpec, dim: int) -> bool:
    order = list(spec.dim_order)
    return math.prod(spec.shape[outer] for outer in order[: order.index(dim)]) == 1


def _overwritable(node: Node) -> Iterator[Node]:
    """Operands that the result may be written over, if they are not needed any more."""
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None or not schema.name.startswith(NAMESPACE + "::"):
        return
    wanted = IN_PLACE.get(schema.name.removeprefix(NAMESPACE + "::"), ())
    out = node.meta["spec"]
    for argument, operand in zip(schema.arguments, node.args):
        layout = operand.meta.get("spec") if isinstance(operand, Node) and argument.name in wanted else None
        if isinstance(layout, TensorSpec) and layout.dtype == out.dtype:
            if list(layout.shape) == list(out.shape) and list(layout.dim_order) == list(out.dim_order):
                yield operand
