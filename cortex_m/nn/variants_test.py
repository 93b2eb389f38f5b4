"""Each core's variant of every kernel gives the scalar variant's bits, on the simulated core itself."""

from pathlib import Path

import pytest

from cortex_m import simulator
from cortex_m.boards import boards

_CORES = {core: name for name in boards.names() for core in boards.load(name)["cores"]}


@pytest.mark.parametrize("core", sorted(_CORES))
def test_variants_agree(core):
    result = simulator.run(_CORES[core], Path("cortex_m/nn") / f"variants_{core}.elf", timeout=240)
    assert result.values["failures"] == "0"
    assert int(result.values["values"]) > 1_000_000
    # A test whose expected outputs are mostly at the rails proves nothing.
    assert 2 * int(result.values["saturated"]) < int(result.values["values"])
