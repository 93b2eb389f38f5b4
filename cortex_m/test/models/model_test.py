"""One network, the whole way: int8 throughout, close to float, and the predicted bytes on every core.

Which network, and where its files are, comes from model_test.bzl; what it must reach, from expectations.yaml.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console
from rich.table import Table

from cortex_m.simulator import elf_size
from cortex_m.test import model_on_device, samples

NAME = os.environ["MODEL"]
VECTORS = Path(os.environ["MODEL_VECTORS"])
RUNNERS = dict(pair.split("=", 1) for pair in os.environ["MODEL_RUNNERS"].split())
EXPECTED = yaml.safe_load(Path(__file__).with_name("expectations.yaml").read_text())[NAME]


@pytest.fixture(scope="module")
def report() -> dict:
    (path,) = [path for path in os.environ["MODEL_REPORT"].split() if path.endswith(".json")]
    return json.loads(Path(path).read_text())


@pytest.fixture(scope="module")
def measured():
    """core -> what its runner printed; shown as a table when all cores have run."""
    found: dict[str, dict[str, int]] = {}
    yield found
    table = Table("core", "instructions", "to load", "arena", "state", "stack", "code", "constants", ".pte", title=NAME)
    for core, values in found.items():
        table.add_row(core, *(f"{values[key]:,}" if key in values else "-" for key in (
            "inference instructions", "load instructions", "arena", "method state", "stack used", "code", "constants", "program",
        )))  # fmt: skip
    Console(width=120).print(table)


def _pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    """(float network's, program's predicted) value of each output."""
    index = json.loads((VECTORS / "vectors.json").read_text())
    read = lambda entry: np.fromfile(VECTORS / entry["file"], dtype=entry["dtype"].removeprefix("torch."))
    return [(read(one), read(other)) for one, other in zip(index["float"], index["expected"], strict=True)]


def test_computes_in_int8_from_the_first_quantize_to_the_last_dequantize(report):
    calls = report["instructions"]
    ops = [call["op"] for call in calls]
    first = min(i for i, op in enumerate(ops) if "::quantize_" in op)
    last = max(i for i, op in enumerate(ops) if "::dequantize_" in op)
    floating = [
        call
        for call in calls[first : last + 1]
        if call["dtype"].startswith("float") and "::dequantize_" not in call["op"]
    ]
    allowed = EXPECTED.get("float", {})
    assert {call["op"] for call in floating} <= set(allowed), floating
    assert sum("::dequantize_" in op for op in ops) == len(_pairs()) or allowed
    assert not [op for op in ops[:first] + ops[last + 1 :] if "::" not in op or op.startswith("aten::")]


def test_is_close_to_the_float_network():
    pairs = [(one.astype(np.float64), other.astype(np.float64)) for one, other in _pairs()]
    signal = sum(np.square(one).sum() for one, _ in pairs)
    noise = sum(np.square(one - other).sum() for one, other in pairs)
    sqnr_db = 10 * np.log10(signal / noise)
    print(f"{NAME}: SQNR {sqnr_db:.2f} dB")
    assert sqnr_db >= EXPECTED["sqnr_db"]
    for position in EXPECTED.get("best", []):
        assert pairs[position][0].argmax() == pairs[position][1].argmax(), f"output {position}"


def test_plans_hardly_more_memory_than_one_moment_needs(report):
    memory = report["memory"]
    print(
        f"{NAME}: {memory['planned']:,} bytes planned, {memory['lower_bound']:,} live at instruction {memory['instruction']}"
    )
    assert memory["lower_bound"] <= memory["planned"] <= 1.05 * memory["lower_bound"]


@pytest.mark.parametrize("core", RUNNERS)
def test_gives_the_predicted_bytes(core, measured):
    timeout = float(os.environ.get("TEST_TIMEOUT", "300")) - 10
    options = argparse.Namespace(elf=Path(RUNNERS[core]), core=core, vectors=VECTORS, simulator="qemu", timeout=timeout)
    cases = samples.from_vectors(VECTORS)
    runs = model_on_device.run_samples(options, cases)
    values = dict(line.split(": ", 1) for line in runs[0].printed.splitlines() if ": " in line)
    measured[core] = {key: int(value) for key, value in values.items() if value.isdigit()}
    if core != "host":
        measured[core] |= {
            key: size for key, size in elf_size.report(RUNNERS[core]).items() if key in ("code", "constants")
        }
    assert model_on_device.compare(cases, runs) == []


@pytest.mark.parametrize("core", [core for core in RUNNERS if core != "host"])
def test_takes_a_quarter_of_the_state_a_tenth_of_the_loading_and_three_quarters_of_the_program(core, measured):
    """Of what the peer needs. It loads in 67,000 to 596,000 instructions, here the least and the most of them count."""
    peer = EXPECTED.get("peer")
    if peer is None:
        pytest.skip("the peer was not measured with this network")
    values = measured[core]
    assert 4 * values["method state"] <= peer["state"]
    assert 10 * values["load instructions"] <= (596_000 if NAME == "mobilenet_model" else 67_000)
    if "program" in peer:
        assert 4 * values["program"] <= 3 * peer["program"]
