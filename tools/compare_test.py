"""The compare command as a person runs it: agreement, a kernel that is wrong, and bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from absl import flags
from absl.testing import flagsaver

from tools import compare as tool

NET = """
import torch
from cortex_m import ModelSource

class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.values = torch.nn.Conv2d(2, 4, 3, padding=1)
        self.gate = torch.nn.Conv2d(2, 4, 1)
        self.head = torch.nn.Conv2d(4, 3, 3)

    def forward(self, x):
        return self.head(self.values(x) * self.gate(x))

def model():
    torch.manual_seed(0)
    samples = [(torch.randn(1, 2, 8, 8),) for _ in range(3)]
    return ModelSource(Gate().eval(), samples[0], samples[1:])

def broken():
    raise ValueError("no weights here")
"""
FAULTY = Path("tools/testing/faulty_cortex_m55.elf")


def command(script: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path.cwd()), *sys.path]))
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, env=environment)


def compare(*arguments: str) -> subprocess.CompletedProcess:
    return command("tools/compare.py", *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "net.py").write_text(NET)
    return folder


@pytest.fixture(scope="module")
def compared(folder):
    """The model by its entry, on this machine and a core; and the program, exported."""
    done = compare(f"--entry={folder}/net.py:model", "--cores=host,cortex_m55", f"--json={folder}/equal.json")
    return done, json.loads((folder / "equal.json").read_text())


@pytest.fixture(scope="module")
def program(folder) -> str:
    done = command("tools/export.py", f"--entry={folder}/net.py:model", f"--program={folder}/net.pte")
    assert done.returncode == 0, done.stderr
    return f"{folder}/net.pte"


def test_cores_that_agree(compared):
    done, written = compared
    assert done.returncode == 0, done.stderr
    count = len(written["layers"])
    assert f"host: all {count} instructions equal the reference, bit for bit" in done.stdout
    assert f"cortex_m55: all {count} instructions equal the reference, bit for bit" in done.stdout
    assert written["verdicts"] == {"host": None, "cortex_m55": None}
    assert "running on cortex_m55" in done.stderr  # progress


def test_float_is_compared_by_layer(compared):
    _, written = compared
    by_layer = {layer["layer"]: layer for layer in written["layers"] if "conv2d" in layer["op"]}
    assert set(by_layer) == {"values", "gate", "head"}
    assert all(layer["sqnr_db"] > 15 for layer in by_layer.values())
    assert by_layer["head"]["source"].startswith("net.py:13")


def test_a_kernel_that_rounds_wrong_is_named_with_the_element(compared, program, folder):
    np.save(folder / "x.npy", np.random.default_rng(1).standard_normal((1, 2, 8, 8)).astype(np.float32))
    done = compare(
        program, f"--input={folder}/x.npy", "--cores=cortex_m55", f"--runner={FAULTY}", f"--json={folder}/faulty.json"
    )
    assert done.returncode == 1, done.stderr
    layers = json.loads((folder / "faulty.json").read_text())["layers"]
    wrong = [layer["index"] for layer in layers if layer["differences"]["cortex_m55"]]
    (mul,) = (layer for layer in layers if layer["op"] == "cortex_m::quantized_mul")
    assert wrong[0] == mul["index"]
    assert f"first in instruction {mul['index']}, cortex_m::quantized_mul: " in done.stdout
    found = mul["differences"]["cortex_m55"]
    # Rounding down instead of to the nearest: one step too small, in about half of the elements.
    assert found["given"] == found["expected"] - 1
    assert 0.2 < found["wrong"] / found["elements"] < 0.8 and found["elements"] == 4 * 8 * 8
    assert len(found["index"]) == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (lambda program, folder: [], "name either one .pte or an --entry"),
        (lambda program, folder: [program, f"--entry={folder}/net.py:model"], "name either one .pte or an --entry"),
        (
            lambda program, folder: [program, "--cores=cortex_a53"],
            "--cores=cortex_a53: there is no such core; known are host, cortex_m0, ",
        ),
        (lambda program, folder: [f"{folder}/none.pte"], "there is no file"),
        (lambda program, folder: [f"{folder}/net.py"], "net.py is refused: "),
        (lambda program, folder: [program, f"--input={folder}/none.npy"], "is no .npy file that can be read"),
        (lambda program, folder: [program, f"--input={folder}/small.npy"], "has torch.float32 (1, 2); input 0 of"),
        (
            lambda program, folder: [program, "--input=a.npy", "--input=b.npy"],
            "takes 1 inputs, but --input is given 2 times",
        ),
        (lambda program, folder: [program, "--runner=other.elf"], "--runner is of one core"),
        (
            lambda program, folder: [program, "--cores=cortex_m7"],
            "there is no universal_cortex_m7.elf or universal_int8_cortex_m7.elf",
        ),
        (lambda program, folder: [f"--entry={folder}/net.py:model", "--target=z80"], "unknown target 'z80'"),
        (
            lambda program, folder: [f"--entry={folder}/net.py:absent"],
            "was not exported; what the exporter said stands above",
        ),
    ],
    ids=[
        "nothing",
        "both",
        "core",
        "no file",
        "no program",
        "no input",
        "shape",
        "count",
        "runner",
        "unbuilt",
        "target",
        "entry",
    ],
)
def test_bad_input_is_one_sentence(program, folder, arguments, sentence, capsys):
    """In this process: torch is imported once for all."""
    np.save(folder / "small.npy", np.zeros((1, 2), np.float32))
    with flagsaver.flagsaver():
        rest = flags.FLAGS(["compare", "--noprogress", *arguments(program, folder)])
        assert tool.main(rest) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("compare: error: ") and printed.err.count("\n") == 1
    assert sentence in printed.err
