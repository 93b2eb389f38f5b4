"""The memory plan of a program: for `to_executorch`.

    edge.to_executorch(cortex_m_executorch_config())

Any runtime of .pte files can run a program that is planned so: offsets are all it sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from executorch.exir import ExecutorchBackendConfig
from executorch.exir.pass_base import PassResult
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec
from torch.export.exported_program import ExportGraphSignature
from torch.fx import GraphModule

from cortex_m.memory.placement import Placement, place
from cortex_m.memory.sharing import Groups, Sharing, share


class CortexMMemoryPlanningPass(MemoryPlanningPass):
    """executorch's pass with the placement of `placement.py`; what may share memory does (`sharing.py`).

    Args:
        share_memory: False gives each tensor bytes of its own while it lives, and keeps every copy.
        options: those of MemoryPlanningPass, but for memory_planning_algo.

    Afterwards `left_out` has the positions of the copies that need no instruction, counted among the instructions that the
    graph had with them.
    """

    def __init__(self, share_memory: bool = True, **options: Any) -> None:
        super().__init__(memory_planning_algo=self._plan, **options)
        self._share_memory = share_memory
        self._sharing = Sharing()
        self._graph_signature: ExportGraphSignature | None = None

    @property
    def left_out(self) -> list[int]:
        return self._sharing.left_out

    def run(self, graph_module: GraphModule, graph_signature: ExportGraphSignature | None = None) -> PassResult:
        self._graph_signature = graph_signature
        if self.alloc_mutable_buffers and graph_signature is not None:
            _keep_initial_state(graph_module, graph_signature)
        return super().run(graph_module, graph_signature)

    def _set_alloc_node_spec(self, graph_module: GraphModule) -> None:
        """The first step of executorch's `run`, which may be taken once: after it, and before any plan, sharing is found."""
        super()._set_alloc_node_spec(graph_module)
        self._sharing = Sharing()
        if self._share_memory:
            self._sharing = share(graph_module, self._graph_signature, self.alloc_graph_input, self.alloc_graph_output)

    def _plan(
        self,
        alignment: int,
        specs: Sequence[TensorSpec],
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature | None,
        extra_padding: int = 0,
    ) -> list[int]:
        """The memory_planning_algo: sets mem_id and mem_offset of `specs`, and returns the sizes of all memories."""
        reserved = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])  # for subgraphs
        memories: dict[int, list[TensorSpec]] = {}
        for spec in specs:
            spec.realign(alignment)
            memories.setdefault(1 if spec.mem_id is None else spec.mem_id, []).append(spec)
        sizes = [0] * (max([1, *memories, len(reserved) - 1]) + 1)
        for memory_id in range(1, len(sizes)):
            begin = reserved[memory_id] if memory_id < len(reserved) else 0
            size = self._plan_memory(memory_id, memories.get(memory_id, []), begin, alignment)
            sizes[memory_id] = begin + size + (extra_padding if size else 0)
        return sizes

    def _plan_memory(self, memory_id: int, specs: list[TensorSpec], begin: int, alignment: int) -> int:
        """The smaller of two placements: writing in place ties tensors together, which now and then costs more than it saves."""
        plans = [_place(groups, specs, alignment) for groups in (self._sharing.in_place, self._sharing.copies)]
        storages, placement = min(plans, key=lambda plan: plan[1].size)
        for number, (members, offset) in enumerate(zip(storages, placement.offsets)):
            for spec, distance in members:
                spec.mem_id, spec.mem_obj_id, spec.mem_offset = memory_id, number, begin + offset + distance
        return placement.size


def _keep_initial_state(graph_module: GraphModule, signature: ExportGraphSignature) -> None:
    """Has executorch's emitter write the values of the buffers that the program changes; it leaves them out unless told so."""
    changed = set(signature.buffers_to_mutate.values())
    for node in graph_module.graph.find_nodes(op="placeholder"):
        if signature.inputs_to_buffers.get(node.target) in changed:
            node.meta["et_init_buffer"] = True


def _place(
    groups: Groups, specs: list[TensorSpec], alignment: int
) -> tuple[list[list[tuple[TensorSpec, int]]], Placement]:
    """The members of each storage, and where the storages lie."""
    seen: set[int] = set()
    storages, members = [], []
    for spec in specs:
        if id(spec) not in seen:
            members.append(groups.members(spec))
            seen |= {id(member) for member, _ in members[-1]}
            storages.append(groups.storage(spec))
    return members, place(storages, alignment)


def cortex_m_executorch_config(**options: Any) -> ExecutorchBackendConfig:
    """executorch's settings with CortexMMemoryPlanningPass; `options` are those of ExecutorchBackendConfig."""
    return ExecutorchBackendConfig(**{"memory_planning_pass": CortexMMemoryPlanningPass(), **options})
