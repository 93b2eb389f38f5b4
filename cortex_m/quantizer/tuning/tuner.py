"""What happens with the calibration samples between prepare_pt2e and the end of convert_pt2e.

    1. ranges      of every tensor, in arithmetic that is the same on every machine    (`ranges`, `exact`)
    2. factors     rescale the channels of the tensors between layers                  (`equalize`, `factors`, `ceilings`)
    3. layers      round weights against the outputs, correct biases                   (`lockstep`, `rounding`)

Nothing is trained. A third of the samples is held out: 2 and 3 are made from the others, and each is undone unless the worst of those
held out comes closer to the float model. 2 is undone, group by group, where it changes what the float model computes (`judge`).
The samples are those that the prepared model was called with. Without them, or with a graph that cannot be replayed (a buffer
changed in place), the plain ranges of the observers stand, and `summary` says so.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.joins import settle_ranges
from cortex_m.quantizer.ranges import NarrowRange, narrow_ranges, require_numbers
from cortex_m.quantizer.state import reset_state
from cortex_m.quantizer.tuning.bias import leave_room
from cortex_m.quantizer.tuning.ceilings import ceilings
from cortex_m.quantizer.tuning.equalize import Group, find_groups, rescale
from cortex_m.quantizer.tuning.factors import ChannelStatistics, channel_factors
from cortex_m.quantizer.tuning.judge import SAME_DB, Outputs, SameFunction, quality_db
from cortex_m.quantizer.tuning.lockstep import tune_layers
from cortex_m.quantizer.tuning.parameters import Parameters, observe_weights
from cortex_m.quantizer.tuning.ranges import channel_statistics, set_ranges
from cortex_m.quantizer.tuning.replay import Samples, count, outputs, recorded_inputs, select

# Samples that factors are judged by and layers are tuned with; all of the recorded ones count for the ranges.
MAX_SAMPLES = 12
# With fewer, none can be held out, and only what cannot hurt is done.
MIN_SAMPLES = 3


class Tuner:
    """Tunes one prepared model, once.

    enabled: False measures ranges and makes sure that biases fit, and no more.
    state: what buffers that the model changes hold at first, by name; tuning ends with these values in them again, so that
        the program begins as the model did, whatever calibration has left there.

    Attributes:
        summary: one sentence: what was done, or why nothing.
        narrow_ranges: tensors that use few of the 256 integers.
        channel_factors: what the channels (dimension 1) of a node's value were multiplied by, by the node's name.
        unrecorded: how many calibration samples were too many to keep.
    """

    def __init__(self, enabled: bool = True, state: dict[str, torch.Tensor] | None = None) -> None:
        self.enabled = enabled
        self._state = state or {}
        self.summary = "not converted yet"
        self.channel_factors: dict[str, torch.Tensor] = {}
        self.narrow_ranges: list[NarrowRange] = []
        self.unrecorded = 0
        self._done = False

    def tune(self, model: GraphModule) -> None:
        """Puts better parameters into the observers of `model` and changes its weights; does nothing twice."""
        if self._done:
            return
        self._done = True
        with torch.no_grad():
            require_numbers(model)
            settle_ranges(model)  # of the observers' own ranges, which stand where samples cannot be replayed
            self.summary = self._tune(model)
            self.narrow_ranges = narrow_ranges(model)
            leave_room(model)
            reset_state(model, self._state)

    def _tune(self, model: GraphModule) -> str:
        inputs = recorded_inputs(model)
        if not inputs or not count(inputs):
            return "plain ranges: there are no recorded calibration samples"
        if any(_writes(node) for node in model.graph.nodes):
            return "plain ranges: the model changes a buffer in place, so samples cannot be replayed"
        statistics = channel_statistics(model, inputs)
        set_ranges(model, statistics, {}, complete=self.unrecorded == 0)
        if not self.enabled:
            return "plain ranges: tuning is off"
        size = count(inputs)
        inputs = select(inputs, spread(size, MAX_SAMPLES))
        steps = _Steps(model, inputs, self.unrecorded == 0)
        done = [f"tuned on {size} samples", steps.equalize(statistics)]
        self.channel_factors = {node.name: factor for node, factor in steps.factors.items()}
        if count(inputs) < MIN_SAMPLES:
            done.append(
                f"weights rounded to the nearest step, as fewer than {MIN_SAMPLES} samples leave none to judge by"
            )
        else:
            done.append(steps.tune_layers())
        return ", ".join(done)


class _Steps:
    """The steps, each kept only if it is one forward for the samples that are held out.

    Attributes:
        factors: of the nodes whose channels are rescaled.
    """

    def __init__(self, model: GraphModule, inputs: Samples, complete: bool) -> None:
        self.factors: dict[Node, torch.Tensor] = {}
        self._model = model
        self._inputs = inputs
        self._complete = complete
        indices = list(range(count(inputs)))
        self._held_out = indices[1::3] or indices
        self._fit = [index for index in indices if index not in self._held_out] or indices
        self._judges = select(inputs, self._held_out)
        self._wanted: Outputs = outputs(model, self._judges)
        self._reached = self._quality()

    def _quality(self) -> list[float]:
        return quality_db(self._wanted, outputs(self._model, self._judges, quantized=True))

    def _is_forward(self) -> bool:
        reached = self._quality()
        # By the worst sample; by the mean where that is the same.
        forward = (min(reached), sum(reached)) > (min(self._reached), sum(self._reached))
        if forward:
            self._reached = reached
        return forward

    def equalize(self, statistics: dict[Node, ChannelStatistics]) -> str:
        """What was done, in words."""
        model = self._model
        groups = find_groups(model)
        limits = ceilings(model, groups)
        # All factors come from the weights as they are, then all weights change.
        found = [(group, channel_factors(model, group, groups, statistics, limits)) for group in groups]
        wanted = [(group, scale) for group, scale in found if scale is not None]
        if not wanted:
            return "no channel groups to equalize"
        before = Parameters(model)
        kept = self._rescale(wanted, before)
        self.factors = {node: scale for group, scale in kept for node in group.tensors}
        observe_weights(model)
        set_ranges(model, statistics, self.factors, self._complete)
        undone = len(wanted) - len(kept)
        changed = f" ({undone} undone, as the float model would change: less than {SAME_DB:g} dB)" if undone else ""
        if not kept or self._is_forward():
            return f"{len(kept)} channel groups equalized{changed}"
        before.restore()
        self.factors = {}
        return f"{len(wanted)} channel groups left as they are, as equalizing them is no gain on {self._judged_by()}"

    def _rescale(
        self, wanted: list[tuple[Group, torch.Tensor]], before: Parameters
    ) -> list[tuple[Group, torch.Tensor]]:
        """The groups whose factors leave the float model as it is; the others keep their channels."""
        same = SameFunction(self._model, select(self._judges, [0]))
        for group, scale in wanted:
            rescale(self._model, group, scale)
        if same.holds():
            return wanted
        before.restore()
        kept = []
        for group, scale in wanted:
            last = Parameters(self._model)
            rescale(self._model, group, scale)
            if same.holds():
                kept.append((group, scale))
            else:
                last.restore()
        return kept

    def tune_layers(self) -> str:
        """What was done, in words."""
        before = Parameters(self._model)
        kept = tune_layers(self._model, self._inputs, self._fit, self._held_out)
        if self._is_forward():
            return f"{kept.rounded} of {kept.layers} layers rounded against their outputs, {kept.corrected} biases corrected"
        before.restore()
        return f"weights rounded to the nearest step, as nothing else is a gain on {self._judged_by()}"

    def _judged_by(self) -> str:
        return f"the {len(self._held_out)} samples held out" if self._held_out != self._fit else "the samples"


def spread(size: int, most: int) -> list[int]:
    """Up to `most` of the indices below `size`, evenly spread."""
    return sorted({index * size // min(size, most) for index in range(min(size, most))})


def _writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
