"""docs/catalogue.md says what each name of torch becomes today, and nothing in it is wrong that is not known to be."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from cortex_m.test.catalogue import document, names
from cortex_m.test.catalogue.case import Call, Function, between
from cortex_m.test.catalogue.judge import Row, export, rows, sqnr_db
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


@pytest.mark.parametrize("calls", _WITH_CALLS, ids=[calls.title for calls in _WITH_CALLS])
def test_the_document_is_true(calls, device):
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


def test_each_name_of_torch_has_one_call_or_a_reason():
    have = Counter([call.name for calls in SECTIONS for call in calls.calls])
    have.update(name for calls in SECTIONS for name in calls.without)
    assert [name for name, count in have.items() if count > 1] == []
    assert set(have) == set(names.all_names())


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


def test_a_wrong_result_is_a_fault(device, monkeypatch):
    """A host whose first output is one unit beside the device's, and one that PyTorch does not agree with."""
    call = Call("tanh", lambda: Function(torch.tanh), (between(-2, 2, 4, 12),))
    assert not rows([call], device)[0].fault
    from cortex_m.host.program import Program

    run = Program.run

    def beside(self, inputs):
        values = run(self, inputs)
        values[0].view(torch.int32).flatten()[0] += 1
        return values

    monkeypatch.setattr(Program, "run", beside)
    assert "host" in rows([call], device)[0].fault
    monkeypatch.setattr(Program, "run", lambda self, inputs: [-value for value in run(self, inputs)])
    assert export(call).row.fault


def test_an_error_is_ours_or_a_fault(monkeypatch):
    broken = Call("broken", lambda: Function(torch.tanh), (between(-2, 2, 4, 12),))

    def fail(*_):
        raise RuntimeError("an error of torch\nwith details")

    monkeypatch.setattr("cortex_m.test.catalogue.judge.export_model", fail)
    row = export(broken)
    assert row == Row("broken", "traceback", None, "RuntimeError: an error of torch", "RuntimeError: an error of torch")


def test_signal_to_noise():
    want = torch.tensor([3.0, 4.0])
    assert sqnr_db(want, want) == float("inf")
    assert abs(sqnr_db(want, want + torch.tensor([0.3, 0.4])) - 20.0) < 1e-4
    assert sqnr_db(want, want[:1]) == -float("inf")
    assert sqnr_db(torch.tensor([1, 2]), torch.tensor([1, 3])) == -float("inf")
    assert sqnr_db(torch.tensor([float("inf"), 1.0]), torch.tensor([1.0, 1.0])) == -float("inf")
