"""Refuses graphs with values that no program here can hold."""

from __future__ import annotations

from torch.fx import Graph

from cortex_m.errors import ModelError
from cortex_m.quantizer.match import fake
from cortex_m.quantizer.report import source_location


def require_known_values(graph: Graph) -> None:
    """Raises ModelError, with node and source line, for complex numbers and for shapes that are not fixed."""
    for node in graph.nodes:
        value = fake(node)
        if value is None:
            continue
        if value.is_complex():
            raise ModelError(
                f"{source_location(node)}: {node.name} ({node.target}) makes complex numbers, which no operator here takes. "
                "Do that part, a Fourier transform as a rule, before the network, or with real matrices in it."
            )
        if all(isinstance(size, int) for size in value.shape):
            continue
        shape = "(" + ", ".join(map(str, value.shape)) + ")"
        if node.op == "placeholder":
            raise ModelError(f"input {node.name} has a dynamic shape {shape}; export with fixed shapes")
        raise ModelError(
            f"{source_location(node)}: the values of a run decide the shape {shape} of {node.name} ({node.target}), and "
            "memory is planned before. Keep the shape fixed: choose with torch.where, or with topk of a fixed number."
        )
