"""The run command as a person runs it: programs of another exporter, with the outputs of that one's own runtime."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from absl import flags as absl_flags
from absl.testing import flagsaver
from PIL import Image

from tools import run_program

FOLDER = Path("cortex_m/test/upstream_programs")
PROGRAM = FOLDER / "ds_cnn_m55.pte"


def start(*flags: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path.cwd()), *sys.path]))
    return subprocess.run(
        [sys.executable, "tools/run_program.py", *flags], capture_output=True, text=True, env=environment
    )


def run(*flags: str) -> subprocess.CompletedProcess:
    """The same in this process, which has imported torch."""
    out, err = io.StringIO(), io.StringIO()
    with flagsaver.flagsaver(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_program.main(absl_flags.FLAGS(["run", *flags]))
    return subprocess.CompletedProcess(flags, status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with the input of the program, and inputs that are none."""
    folder = tmp_path_factory.mktemp("files")
    data = (
        np.frombuffer((FOLDER / "ds_cnn.in.bin").read_bytes(), np.float32).reshape(1, 49, 1, 10).transpose(0, 2, 1, 3)
    )
    np.save(folder / "x.npy", data)
    np.save(folder / "double.npy", data.astype(np.float64))
    np.save(folder / "flat.npy", data.flatten())
    np.save(folder / "object.npy", np.array([{}], dtype=object))
    (folder / "text.npy").write_text("text")
    (folder / "text.png").write_text("text")
    Image.fromarray(np.arange(20 * 98, dtype=np.uint8).reshape(98, 20)).save(folder / "grey.png")
    Image.fromarray(np.full((49, 10, 3), 51, np.uint8)).save(folder / "exact.png")
    (folder / "cut.pte").write_bytes(PROGRAM.read_bytes()[:1000])
    return folder


@pytest.mark.parametrize("core", ["host", "cortex_m55"])
def test_the_outputs_are_those_of_executorchs_runtime(files, core):
    out = files / f"{core}.npy"
    flags = ["--layers", "--cycles"] if core != "host" else []
    done = start(str(PROGRAM), f"--input={files}/x.npy", f"--core={core}", f"--output={out}", "--top=2", *flags)
    assert done.returncode == 0, done.stderr
    expected = np.frombuffer((FOLDER / "ds_cnn.out.bin").read_bytes(), np.float32)
    assert np.load(out).tobytes() == expected.tobytes()
    lines = done.stdout.splitlines()
    assert lines[0] == f"{PROGRAM} on {core}"
    assert lines[1].startswith(
        f"output 0: float32 {np.load(out).shape}, from {expected.min():.6g} to {expected.max():.6g}, mean "
    )
    assert lines[2].split() == [str(expected.argmax()), f"{expected.max():.6g}"]
    if core == "host":
        assert lines[-1] == "arena: 20,464 bytes"
    else:
        assert "instructions, simulated, not cycles: inference " in done.stdout
        assert re.search(
            r"^cycles, estimate \(docs/cycles.md\): inference [\d,]+, of these [\d,]+ wait", done.stdout, re.MULTILINE
        )
        layers = re.findall(r"^ +\d+  \w+::.*$", done.stdout, re.MULTILINE)
        assert layers and all(line.endswith(" cycles, estimate") for line in layers)
        assert any(line.split()[:2] == ["3", "cortex_m::quantized_depthwise_conv2d"] for line in lines)


def test_images(files, monkeypatch):
    """Pixels from 0 to 1, less the mean, by the deviation: as the same numbers in a .npy."""
    np.save(files / "same.npy", np.full((1, 1, 49, 10), (0.2 - 0.5) / 0.25, np.float32))
    flags = [str(PROGRAM), f"--output={files}/out.npz"]
    outputs = []
    for given in ([f"--input={files}/exact.png", "--mean=0.5", "--std=0.25"], [f"--input={files}/same.npy"]):
        done = run(*flags, *given)
        assert done.returncode == 0, done.stderr
        outputs.append(np.load(files / "out.npz")["arr_0"])
    assert np.array_equal(*outputs)
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(files))
    assert run(str(PROGRAM.absolute()), "--input=grey.png", "--resize").returncode == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["{folder}/none.pte"], "there is no file {folder}/none.pte"),
        (["{folder}/cut.pte"], "{folder}/cut.pte is refused: "),
        (["{pte}"], "takes 1 inputs, and 0 are given with --input: 0: float32 (1, 1, 49, 10)"),
        (["{pte}", "--input=a.npy", "--input=b.npy"], "takes 1 inputs, and 2 are given"),
        (["{pte}", "--input={folder}/none.npy"], "there is no file {folder}/none.npy"),
        (
            ["{pte}", "--input={folder}/double.npy"],
            "it has float64 (1, 1, 49, 10), and the program takes float32 (1, 1, 49, 10): save it so",
        ),
        (["{pte}", "--input={folder}/flat.npy"], "it has float32 (490,)"),
        (["{pte}", "--input={folder}/object.npy"], "no .npy of numbers"),
        (["{pte}", "--input={folder}/text.npy"], "no .npy of numbers"),
        (["{pte}", "--input={folder}/text.png"], "neither a .npy nor an image that can be read"),
        (["{pte}", "--input={folder}/grey.png"], "the image is 20x98, the input 10x49: add --resize"),
        (["{pte}", "--input={folder}/exact.png", "--mean=a"], "--mean=a: numbers, separated by commas"),
        (
            ["{pte}", "--input={folder}/exact.png", "--std=0"],
            "--std=0: one number, or 1, one for each channel, none of them 0",
        ),
        (["{pte}", "--core=cortex_a53"], "--core=cortex_a53: there is no such core; known are host, cortex_m0"),
        (["{pte}", "--layers"], "--layers, --cycles and --runner are for a core"),
        (["{pte}", "--output=x.txt"], "--output=x.txt: name a .npy or a .npz"),
        (["{pte}", "--input={folder}/x.npy", "--output={folder}/none/x.npy"], "cannot be written: No such file"),
        (
            ["{pte}", "--input={folder}/x.npy", "--core=cortex_m23"],
            "bazel build //cortex_m/runner:universal_cortex_m23, and run again",
        ),
        (
            ["{pte}", "--input={folder}/x.npy", "--core=cortex_m4", "--runner={folder}/none.elf"],
            "there is no file {folder}/none.elf",
        ),
        ([], "name one .pte, not 0"),
        (["{pte}", "stray"], "name one .pte, not 2"),
    ],
)
def test_bad_input_is_one_sentence(files, flags, sentence):
    done = run(*(flag.format(folder=files, pte=PROGRAM) for flag in flags))
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("run: error: ")]
    assert len(errors) == 1 and sentence.format(folder=files) in errors[0], done.stderr


def test_help_has_examples():
    assert "bazel run //tools:run -- model.pte --input=a.npy" in start("--help").stdout
