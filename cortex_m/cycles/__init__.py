"""Estimated cycles: counts of executed blocks, from the simulator, times a model of the core's pipeline.

    segments = count("cortex_m55", "runner.elf", ["--input", "in.bin"], cwd=folder)
    estimate = Estimator("cortex_m55", "runner.elf").estimate(segments[3])
    estimate.cycles

docs/cycles.md says what the model leaves out and how far it was off. Every figure made of these is an estimate, and is to be called
one. Standard library only, as cortex_m.simulator.
"""

from cortex_m.cycles.counts import Block, Segment, count, measured
from cortex_m.cycles.estimate import BlockEstimate, Estimate, Estimator
from cortex_m.cycles.llvm import MissingLlvm

__all__ = [
    "Block",
    "BlockEstimate",
    "Estimate",
    "Estimator",
    "MissingLlvm",
    "Segment",
    "count",
    "measured",
]
