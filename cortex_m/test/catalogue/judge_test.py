"""The catalogue has each name of torch, and its judge sees what is wrong."""

from collections import Counter

import pytest
import torch

from cortex_m.host.program import Program
from cortex_m.test.catalogue import names
from cortex_m.test.catalogue.case import Call, Function, between
from cortex_m.test.catalogue.judge import Row, export, rows, sqnr_db
from cortex_m.test.catalogue.sections import SECTIONS
from cortex_m.test.device import Device


@pytest.fixture(scope="module")
def device():
    torch.set_num_threads(1)
    return Device("cortex_m55")


def test_each_name_of_torch_has_one_call_or_a_reason():
    have = Counter([call.name for calls in SECTIONS for call in calls.calls])
    have.update(name for calls in SECTIONS for name in calls.without)
    assert [name for name, count in have.items() if count > 1] == []
    assert set(have) == set(names.all_names())


def test_a_wrong_result_is_a_fault(device, monkeypatch):
    """A host whose first output is one unit beside the device's, and one that PyTorch does not agree with."""
    call = Call("tanh", lambda: Function(torch.tanh), (between(-2, 2, 4, 12),))
    assert not rows([call], device)[0].fault
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
