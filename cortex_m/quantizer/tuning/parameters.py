"""What tuning changes, so that a step can be undone."""

from __future__ import annotations

from torch.fx import GraphModule

from cortex_m.quantizer.observers import ActivationObserver, PerChannelWeightObserver
from cortex_m.quantizer.tuning.replay import attribute, observed


class Parameters:
    """The constants of a prepared model and its observers' parameters as they were when this was made."""

    def __init__(self, model: GraphModule) -> None:
        names = {node.target for node in model.graph.nodes if node.op == "get_attr"}
        self._model = model
        self._constants = {name: attribute(model, name).detach().clone() for name in names}
        observers = [
            module for module in model.modules() if isinstance(module, (ActivationObserver, PerChannelWeightObserver))
        ]
        self._tuned = [(observer, observer.tuned) for observer in observers]

    def restore(self) -> None:
        for name, value in self._constants.items():
            attribute(self._model, name).data.copy_(value)
        for observer, tuned in self._tuned:
            observer.tuned = tuned
        observe_weights(self._model)


def observe_weights(model: GraphModule) -> None:
    """Makes the observers of constants forget what they saw and look at the constants as they are now."""
    for node in model.graph.nodes:
        source = observed(model, node)
        module = model.get_submodule(node.target) if node.op == "call_module" and source.op == "get_attr" else None
        if module is not None and hasattr(module, "reset_min_max_vals"):
            module.reset_min_max_vals()
            module(attribute(model, source.target))
