"""docs/catalogue.md says what each name of torch becomes today, and nothing in it is wrong that is not known to be."""

from pathlib import Path

import pytest
import torch

from cortex_m.test.catalogue import document
from cortex_m.test.catalogue.judge import rows
from cortex_m.test.catalogue.known import KNOWN
from cortex_m.test.catalogue.sections import SECTIONS
from cortex_m.test.device import Device

DOCUMENT = Path("docs/catalogue.md")
# Observed ranges hold results of float library functions, which are not the same on every processor; rounded twice to whole dB.
DECIBELS = 2.0

_WITH_CALLS = [calls for calls in SECTIONS if calls.calls]


@pytest.fixture(scope="module")
def device():
    torch.set_num_threads(1)
    return Device("cortex_m55")


def half(first: int) -> pytest.MarkDecorator:
    """Every second section."""
    chosen = _WITH_CALLS[first::2]
    return pytest.mark.parametrize("calls", chosen, ids=[calls.title for calls in chosen])


@half(0)
def test_the_document_is_true(calls, device):
    compare(calls, device)


@half(1)
def test_the_rest_of_the_document_is_true(calls, device):
    compare(calls, device)


def compare(calls, device):
    found = rows(calls.calls, device)
    faults = {row.name: row.fault for row in found if row.fault}
    known = {call.name for call in calls.calls} & set(KNOWN)
    assert set(faults) == known, f"not in known.py, or right by now: {set(faults) ^ known}; {faults}"
    written = document.read(DOCUMENT.read_text(encoding="utf-8"))[calls.title]
    for row in found:
        name, state, decibels, reason = document.cells(row)
        then = written[name.strip("`")]
        assert (state, reason) == (then[0], then[2].strip()), f"{row.name}: run `bazel run //tools:catalogue`"
        assert _near(decibels, then[1]), f"{row.name} has {decibels} dB, the document says {then[1]}"


def _near(now: str, then: str) -> bool:
    if now == then:
        return True
    try:
        return abs(float(now) - float(then)) <= DECIBELS
    except ValueError:
        return False


def test_the_document_has_each_name_and_the_right_counts():
    text = DOCUMENT.read_text(encoding="utf-8")
    tables = document.read(text)
    assert {title: list(table) for title, table in tables.items()} == {
        calls.title: [call.name for call in calls.calls] for calls in SECTIONS
    }
    states = [state for table in tables.values() for state, _, _ in table.values()]
    assert document.summary(states, sum(len(calls.without) for calls in SECTIONS)) in text
    for calls in SECTIONS:
        assert document.section(calls, []).splitlines()[2:] == [
            line for line in document.section(calls, []).splitlines()[2:] if not line or line in text.splitlines()
        ]


def test_known_faults_have_calls():
    assert set(KNOWN) <= {call.name for calls in SECTIONS for call in calls.calls}
