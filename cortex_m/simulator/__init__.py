"""Runs bare-metal ELFs on a simulator and tells every abnormal end in one sentence.

    from cortex_m import simulator
    result = simulator.run("mps3_an547", "runner.elf", ["--input", "in.bin"], cwd=folder)
    result.values["instructions"]

Standard library only, so that starting it costs nothing beside the simulator.
"""

from cortex_m.simulator.command import MissingSimulator
from cortex_m.simulator.simulator import Result, SimulatorError, run

__all__ = ["MissingSimulator", "Result", "SimulatorError", "run"]
