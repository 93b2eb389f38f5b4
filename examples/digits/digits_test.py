"""The digits network keeps its accuracy in int8, and the simulated cores give the host's bytes."""

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import torch

from cortex_m.host import Program
from examples.digits import report
from examples.digits.net import HELD_OUT, samples

_PROGRAM = Path("examples/digits/digits.pte")
_WEIGHTS = resources.files("examples.digits").joinpath("weights.pt")
# Of 360 held-out pictures; measured: 357 in float and in int8.
_LEAST_RIGHT = 354
_MOST_LOST = 2


def test_the_pictures_are_divided():
    training, held_out = samples()
    assert len(held_out.labels) == HELD_OUT and len(training.labels) == 1797 - HELD_OUT
    pictures = torch.cat([training.images, held_out.images]).flatten(1)
    assert len(torch.unique(pictures, dim=0)) == 1797  # no picture in both
    shares = torch.bincount(held_out.labels) / HELD_OUT
    assert torch.all((shares - 0.1).abs() < 0.01)


@pytest.mark.parametrize("core", ["cortex_m55", "cortex_m4"])
def test_accuracy_and_bytes(core):
    measured = report.measure(_PROGRAM.read_bytes(), _WEIGHTS, core, timeout=600)
    floating, host, device = measured.rows
    assert measured.differing == 0
    assert floating.right >= _LEAST_RIGHT
    assert floating.right - host.right <= _MOST_LOST
    assert device.right == host.right and device.count == HELD_OUT
    assert measured.instructions > 0


_ALL_DIGITS = """
import sys, time
begin = time.monotonic()
import torch
from sklearn.datasets import load_digits
from cortex_m.host import Program
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None, None] / 16
(scores,) = Program(sys.argv[1]).run_batch((images,))
right = int((scores[:, 0].argmax(1) == torch.tensor(digits.target)).sum())
print(len(images), right, time.monotonic() - begin)
"""


def test_all_digits_take_seconds():
    """With the start of Python and its imports; the limit is that of a busy machine."""
    done = subprocess.run(
        [sys.executable, "-c", _ALL_DIGITS, str(_PROGRAM)],
        capture_output=True, text=True, timeout=120, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    count, right, seconds = map(float, done.stdout.split())
    assert count == 1797 and right > 0.98 * count
    assert seconds < 30


def test_the_report_as_a_person_runs_it():
    done = subprocess.run(
        [sys.executable, "examples/digits/report.py", "--core=cortex_m4"],
        capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "cortex_m4, int8, simulated" in done.stdout
    assert done.stdout.endswith("the device's scores equal the host's, bit for bit\n")
    wrong = subprocess.run([sys.executable, "examples/digits/report.py", "stray"], capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert wrong.returncode == 1 and "stray: arguments are given as flags" in wrong.stderr


def test_a_picture_at_a_time_and_all_at_once_are_the_same():
    _, held_out = samples()
    program = Program(_PROGRAM)
    (batch,) = program.run_batch((held_out.images[:20, None],))
    assert torch.equal(batch, torch.stack([program.run((image[None],))[0] for image in held_out.images[:20]]))
