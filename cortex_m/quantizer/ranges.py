"""What calibration says about ranges: values that are no numbers, and tensors that use few of the 256 integers.

A range always contains zero, because padding and ReLU want it exactly. Of a tensor between 1000 and 1001 the integers stand for
0 .. 1001 then, and all its values are one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import GraphModule, Node

from cortex_m.errors import ModelError
from cortex_m.quantizer.editing import attribute
from cortex_m.quantizer.observers import ActivationObserver, affine_qparams
from cortex_m.quantizer.report import source_location

# Fewer steps than these are less than 4 of 8 bits.
FEW_CODES = 16


@dataclass(frozen=True)
class NarrowRange:
    """A tensor whose values are few integers.

    low, high: seen in calibration. codes: how many integers stand for what lies between them.
    """

    name: str
    low: float
    high: float
    codes: int
    location: str
    is_input: bool

    def __str__(self) -> str:
        what = "input" if self.is_input else "value"
        integers = "1 of the 256 integers stands" if self.codes == 1 else f"{self.codes} of the 256 integers stand"
        return (
            f"{self.location}: {what} '{self.name}' ranges from {self.low:.6g} to {self.high:.6g} in calibration, and a range "
            f"contains zero: {integers} for all its values; subtract its offset before the network"
        )


def narrow_ranges(model: GraphModule) -> list[NarrowRange]:
    """The tensors of a prepared and calibrated graph that vary, but within fewer than FEW_CODES integers; in graph order."""
    found: dict[Node, NarrowRange] = {}
    for node, observer in _observers(model):
        low, high = float(observer.min_val), float(observer.max_val)
        source = _observed(node)
        if not low < high or source in found:
            continue
        scale, _ = affine_qparams(low, high, observer.quant_min, observer.quant_max)
        codes = round(high / scale) - round(low / scale) + 1
        if codes < FEW_CODES * (observer.quant_max - observer.quant_min + 1) // 256:
            is_input = source.op == "placeholder"
            found[source] = NarrowRange(source.name, low, high, codes, _location(source, node), is_input)
    return list(found.values())


def require_numbers(model: GraphModule) -> None:
    """ModelError for infinity or NaN in a constant or a range, naming the first node in graph order, its line and the sample."""
    for node in model.graph.nodes:
        source = _observed(node)
        if (
            node.op == "call_module"
            and source.op == "get_attr"
            and not bool(attribute(model, source.target).isfinite().all())
        ):
            raise ModelError(
                f"{_location(source, node)}: '{source.target}' has values that are infinite or not a number"
            )
    observers = _observers(model)
    for node, observer in observers:
        if observer.bad_call is None:
            continue
        source = _observed(node)
        calls_of_a_sample = sum(other is observer for _, other in observers)
        seen = f"sample {-(-observer.bad_call // calls_of_a_sample)} of calibration"
        raise ModelError(
            f"{_location(source, node)}: '{source.name}' is not finite in {seen} (its range is {float(observer.min_val):g} to "
            f"{float(observer.max_val):g}): no integers stand for it. A mask of minus infinity is taken before a softmax only, "
            "as a constant, masked_fill or where; a mask that is an input of the network is bool."
        )


def _observers(model: GraphModule) -> list[tuple[Node, ActivationObserver]]:
    modules = [(node, model.get_submodule(node.target)) for node in model.graph.nodes if node.op == "call_module"]
    return [(node, module) for node, module in modules if isinstance(module, ActivationObserver)]


def _observed(node: Node) -> Node:
    while node.op == "call_module":
        node = node.args[0]
    return node


def _location(source: Node, observer: Node) -> str:
    """Of the node, or of what first reads it where it is an input of the network."""
    waiting = [source, observer]
    for node in waiting:
        if (location := source_location(node)) != "?":
            return location
        if len(waiting) < 100:
            waiting.extend(node.users)
    return "?"
