"""The export command as a person runs it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from absl import flags as absl_flags
from absl.testing import flagsaver

from tools import export as tool

NET = """
import torch
from beside import SEED
from cortex_m import ModelSource

def small():
    torch.manual_seed(SEED)
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3))
    return net, (torch.randn(1, 2, 6, 6),)

def judged():
    net, inputs = small()
    samples = [(torch.randn(1, 2, 6, 6),) for _ in range(8)]
    return ModelSource(net, inputs, calibration=samples[:6], evaluation=samples[6:])

def wrong_shape():
    net, inputs = small()
    return ModelSource(net, inputs, output_shapes=[[1, 10]])

class Total(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, 1)

def float_only():
    return Total(), (torch.randn(2, 3),)

def nothing():
    return None
"""


def export(*flags: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(
        [sys.executable, "tools/export.py", *flags], capture_output=True, check=False, text=True, env=environment
    )


def export_here(*flags: str) -> subprocess.CompletedProcess:
    """The same in this process, which has imported torch."""
    out, err = io.StringIO(), io.StringIO()
    with flagsaver.flagsaver(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = tool.main(absl_flags.FLAGS(["export", *flags]))
    return subprocess.CompletedProcess(flags, status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def net(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("net") / "net.py"
    path.write_text(NET)
    path.with_name("beside.py").write_text("SEED = 0\n")
    path.with_name("broken.py").write_text("import no_such_module\n")
    return path


def test_a_floor_that_nothing_reaches(net, tmp_path):
    done = export_here(f"--entry={net}:small", f"--program={tmp_path}/net.pte", "--sqnr_floor_db=99.5")
    assert done.returncode == 1 and "and the floor is 99.5 dB" in done.stderr
    assert not (tmp_path / "net.pte").exists()
    done = export_here(f"--entry={net}:small", f"--program={tmp_path}/net.pte", "--sqnr_floor_db=high")
    assert done.returncode == 1 and "write a number of decibels" in done.stderr


def test_writes_program_report_and_vectors(net, tmp_path):
    done = export(
        f"--entry={net}:judged",
        f"--program={tmp_path}/net.pte",
        f"--report={tmp_path}/net.txt",
        f"--report_json={tmp_path}/net.json",
        f"--vectors={tmp_path}/vectors",
        "--target=cortex-m4",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "net.pte").read_bytes()[4:8] == b"ET12"
    assert "on 2 samples that calibration has not seen" in (tmp_path / "net.txt").read_text()
    report = json.loads((tmp_path / "net.json").read_text())
    assert report["target"] == "cortex-m4"
    memory = report["memory"]
    assert 0 < memory["lower_bound"] <= memory["planned"] <= 1.05 * memory["lower_bound"]
    assert f"Memory: {memory['planned']:,} bytes planned" in (tmp_path / "net.txt").read_text()
    assert "cortex_m::quantized_conv2d_nhwc" in [row["op"] for row in report["instructions"]]
    vectors = json.loads((tmp_path / "vectors" / "vectors.json").read_text())
    assert [entry["shape"] for entry in vectors["expected"]] == [[1, 3]]
    assert (tmp_path / "vectors" / vectors["input"][0]["file"]).stat().st_size == 4 * 2 * 6 * 6
    assert vectors["input"][0]["dim_order"] == [0, 1, 2, 3]
    files = [
        entry["file"]
        for sample in vectors["evaluation"]
        for kind in ("input", "expected", "float")
        for entry in sample[kind]
    ]
    assert len(files) == len(set(files)) == 6
    assert all((tmp_path / "vectors" / file).stat().st_size in (4 * 3, 4 * 2 * 6 * 6) for file in files)
    assert "wrote net.pte" in done.stderr


def test_a_pt2_and_samples(tmp_path):
    """As from a training job: two files in, and an operator that may stay in float."""
    torch.manual_seed(0)
    samples = torch.randn(8, 1, 2, 6, 6)
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3))
    torch.export.save(torch.export.export(net.eval(), (samples[0],)), tmp_path / "net.pt2")
    np.save(tmp_path / "samples.npy", samples.numpy())
    flags = [f"--pt2={tmp_path}/net.pt2", f"--program={tmp_path}/net.pte", "--strict"]
    done = export_here(*flags, f"--calibration={tmp_path}/samples.npy")
    assert done.returncode == 0, done.stderr
    assert "calibrating, sample 8 of 8" in done.stderr
    assert (tmp_path / "net.pte").read_bytes()[4:8] == b"ET12"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--entry={net}:wrong_shape"], "returns shapes [[1, 3]], but [[1, 10]] is declared"),
        (["--entry={net}:nothing"], "returned neither a ModelSource nor (module, example_inputs)"),
        (["--entry={net}:missing"], "has no function missing"),
        (["--entry={broken}:model"], "cannot be imported: No module named 'no_such_module'"),
        (["--entry={net}"], "write it as FILE.py:FUNCTION"),
        (["--entry=none.py:small"], "there is no file"),
        (["--entry={net}:small", "--target=cortex-m99"], "unknown target 'cortex-m99'"),
        (["--entry={net}:float_only", "--strict"], "strict lowering found ops that would run outside cortex_m"),
        (["--entry={net}:float_only", "--quantize_io=false"], "quantize_io=False: output 0 is float, from aten_cumsum"),
        (["--entry={net}:float_only", "--allow_fallback=aten::cumsum"], "allow_fallback says what strict=True permits"),
        (
            ["--entry={net}:small", "--strict", "--allow_fallback=aten::sort"],
            "aten::sort, and no such op stayed outside",
        ),
        (["--entry={net}:small", "--calibration={folder}/none.npy"], "there is no file"),
        (["--entry={net}:small", "--calibration={folder}/wrong.npy"], "wrong.npy: array 0 has shape (4, 9)"),
        (["--pt2={folder}/none.pt2"], "there is no file"),
        (["--pt2={net}"], "net.py is no .pt2"),
        (["--pt2=net.pt2", "--entry={net}:small"], "the model is named by one of --entry and --pt2"),
        ([], "the model is named by one of --entry and --pt2"),
        (["--entry={net}:small", "stray"], "stray: arguments are given as flags"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(net, tmp_path, flags, sentence):
    np.save(net.with_name("wrong.npy"), np.zeros((4, 9), np.float32))
    names = dict(net=net, broken=net.with_name("broken.py"), folder=net.parent)
    done = export_here(*(flag.format(**names) for flag in flags), f"--program={tmp_path}/net.pte", "--progress=false")
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("export: error: ")]
    assert len(errors) == 1 and sentence in errors[0]
    assert not (tmp_path / "net.pte").exists()
