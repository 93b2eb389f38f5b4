"""The firmware on its board: Python of the backend, from another workspace."""

from cortex_m import simulator

result = simulator.run("mps3_an547", "firmware_cortex_m55.elf")
assert 0 <= int(result.values["gesture"]) < 5, result.stdout
