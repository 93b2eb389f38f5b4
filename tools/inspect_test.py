"""The inspect command as a person runs it, on programs that another exporter made, and on what is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path("cortex_m/test/upstream_programs/ds_cnn_m55.pte")


def inspect(*arguments: str, cwd: str | None = None) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path.cwd()), *sys.path]))
    if cwd is not None:
        environment["BUILD_WORKING_DIRECTORY"] = cwd
    command = [sys.executable, "tools/inspect_program.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_tables_of_another_exporters_program():
    done = inspect(str(PROGRAM), "--core=cortex_m55", "--memory")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{PROGRAM}: 54,240 bytes, method forward of 1, target not recorded")
    assert "input 0: float32 1x1x49x10, dim order [0, 2, 1, 3], 1,960 bytes" in lines
    assert "16 instructions, 2,656,768 MACs" in done.stdout
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    depthwise = next(row for row in rows if row[0] == "3")
    assert depthwise[1:8] == [
        "quantized_depthwise_conv2d",
        "int8 1x64x25x5",
        "int8 1x64x25x5",
        "72,000",
        "1,344",
        "4,464",
        "patches",
    ]
    assert any(row[:5] == ["input 0", "float32 1x1x49x10", "1", "0", "1,960"] for row in rows), "no buffers"


def test_json_has_layers_and_memory():
    done = inspect(PROGRAM.name, "--json", cwd=str(PROGRAM.absolute().parent))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [layer["index"] for layer in found["layers"]] == list(range(16))
    assert found["arena_bytes"] == found["memory"]["peak"] == 20464
    assert found["target"] is None
    assert found["layers"][3]["kernels"] == {"mve": "patches", "dsp": "fours", "scalar": "scalar", "thumb2": "fours"}


def damaged(folder: Path) -> str:
    path = folder / "damaged.pte"
    path.write_bytes(PROGRAM.read_bytes()[:1000])
    return str(path)


def other(folder: Path) -> str:
    path = folder / "photo.pte"
    path.write_bytes(b"\x89PNG\r\n" + bytes(100))
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (lambda folder: [], "name one .pte, not 0; --help has examples"),
        (lambda folder: [f"{folder}/none.pte"], "there is no file {folder}/none.pte; name a .pte"),
        (lambda folder: [str(folder)], "is a folder; name a .pte file in it"),
        (lambda folder: [damaged(folder)], "{folder}/damaged.pte is refused: "),
        (lambda folder: [other(folder)], "{folder}/photo.pte is refused: "),
        (lambda folder: [str(PROGRAM), "--method=backward"], "has no method backward; it has forward"),
        (
            lambda folder: [str(PROGRAM), "--core=cortex_a53"],
            "--core=cortex_a53: there is no such core; known are cortex_m0, ",
        ),
    ],
    ids=["nothing", "no file", "folder", "damaged", "no program", "method", "core"],
)
def test_bad_input_is_one_sentence(tmp_path, arguments, sentence):
    done = inspect(*arguments(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("inspect: error: ") and done.stderr.count("\n") == 1, done.stderr
    assert sentence.format(folder=tmp_path) in done.stderr


def test_help_has_examples():
    done = inspect("--help")
    assert "bazel run //tools:inspect -- model.pte --core=cortex_m55" in done.stdout
    assert "--[no]memory" in done.stdout
