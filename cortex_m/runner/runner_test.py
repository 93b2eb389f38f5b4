"""The runners on each board and on the host, with operators of their own (testing/kernels.cc).

Expected values are computed here from what the programs say (testing/programs.py): (x + y) + 2 x.
"""

import re
import struct
import subprocess
from pathlib import Path

import pytest

from cortex_m import simulator
from cortex_m.runner.testing import programs

_FOLDER = Path("cortex_m/runner/testing").resolve()
_BOARD = {"cortex_m55": "mps3_an547", "cortex_m4": "mps2_an386", "host": "host"}
_X = (1.0, -2.0, 3.5, -4.25, 5.0, -6.5)
_Y = (0.5, 0.25, -1.0, 2.0, -3.0, 4.0)
_EXPECTED = tuple((x + y) + 2 * x for x, y in zip(_X, _Y))

pytestmark = pytest.mark.parametrize("core", _BOARD)


@pytest.fixture(scope="module")
def all_programs():
    made = {name: programs.program(name) for name in ("add", "sub", "mul", "div")}
    return made | {"unplanned": programs.program("add", planned_ends=False)}


@pytest.fixture
def folder(tmp_path, all_programs):
    for name, program in all_programs.items():
        (tmp_path / f"{name}.pte").write_bytes(program)
    (tmp_path / "x.bin").write_bytes(struct.pack("<6f", *_X))
    (tmp_path / "y.bin").write_bytes(struct.pack("<6f", *_Y))
    (tmp_path / "short.bin").write_bytes(b"1234")
    return tmp_path


def _run(runner, core, folder, *args):
    """Exit status and console; errors of the simulator itself raise."""
    if core == "host":
        process = subprocess.run(
            [_FOLDER / runner, *args], cwd=folder, capture_output=True, check=False, text=True, timeout=60
        )
        return process.returncode, process.stdout
    result = simulator.run(_BOARD[core], _FOLDER / f"{runner}_{core}.elf", args, cwd=folder, check=False)
    return result.status, result.stdout


def _values(stdout):
    return dict(line.split(": ", 1) for line in stdout.splitlines())


def _read(path):
    return struct.unpack("<6f", path.read_bytes())


_ARGUMENTS = ["--input", "x.bin", "--input", "y.bin", "--output-prefix", "out"]


def test_embedded(core, folder):
    status, stdout = _run("embedded", core, folder, *_ARGUMENTS)
    assert status == 0
    assert _read(folder / "out-0.bin") == _EXPECTED
    values = _values(stdout)
    assert values["board"] == _BOARD[core]
    assert values["method"] == "forward"
    assert int(values["arena"]) == 96  # three tensors of 24 bytes live at once, aligned to 16
    assert int(values["program"]) == len(programs.program("add"))
    assert ("inference instructions" in values) == (core != "host")


def test_embedded_measures_what_one_inference_costs(core, folder):
    if core == "host":
        assert "stack used" not in _run("embedded", core, folder, *_ARGUMENTS)[1]
        return
    once = _values(_run("embedded", core, folder, *_ARGUMENTS)[1])
    assert 200 < int(once["inference instructions"]) < 20_000
    assert 200 < int(once["load instructions"]) < 20_000  # the build has verified it
    assert 200 < int(once["stack used"]) < int(once["stack size"])
    repeated = _values(_run("embedded", core, folder, *_ARGUMENTS, "--repeat", "5")[1])
    difference = int(repeated["inference instructions"]) - int(once["inference instructions"])
    assert abs(difference) <= 4  # the same work; the counter's resolution differs with where it starts


def test_embedded_repeats_with_fresh_inputs(core, folder):
    assert _run("embedded", core, folder, *_ARGUMENTS, "--repeat", "3")[0] == 0
    assert _read(folder / "out-0.bin") == _EXPECTED


def _check_profile(core, lines, inference):
    """The two calls, which cost nearly all that an inference does; the rest is the executor's own."""
    assert [re.sub(r"\d+$", "N", line) for line in lines] == [
        "instruction 0 aten::add: N",
        "instruction 1 aten::add: N",
    ]
    counts = [int(line.split()[-1]) for line in lines]
    if core == "host":
        assert counts == [0, 0]
        return
    assert all(count > 100 for count in counts)
    assert 0 <= inference - sum(counts) < 500 * len(counts)


def _split_load(text: str) -> list:
    """Instructions of loading, 0 where nothing counts them, and the other lines."""
    lines = text.splitlines()
    counts = [int(line.split(": ")[1]) for line in lines if line.startswith("load instructions: ")]
    return [sum(counts), *(line for line in lines if not line.startswith("load instructions: "))]


def test_embedded_profile(core, folder):
    _, plain = _run("embedded", core, folder, *_ARGUMENTS)
    status, stdout = _run("embedded", core, folder, *_ARGUMENTS, "--profile")
    assert status == 0
    # What it measures is not the inference that prints. Loading may differ by the one instruction that the tick counter is off.
    (load, *lines), (plain_load, *plain_lines) = (_split_load(text) for text in (stdout, plain))
    assert abs(load - plain_load) <= 1 and lines[: len(plain_lines)] == plain_lines
    inference = int(_values(stdout).get("inference instructions", 0))
    _check_profile(core, lines[len(plain_lines) :], inference)
    assert _read(folder / "out-0.bin") == _EXPECTED


def test_universal_profile(core, folder):
    (folder / "list.txt").write_text("add.pte x.bin y.bin one\nsub.pte x.bin y.bin no\nunplanned.pte x.bin y.bin two\n")
    status, stdout = _run("universal", core, folder, "--batch", "list.txt", "--profile")
    assert status == 0
    lines = [line for line in stdout.splitlines() if not line.startswith("stack")]
    assert [line.split(":")[0] for line in lines if line.startswith("result")] == ["result 0", "result 1", "result 2"]
    for result in (0, 4):
        inference = int(re.search(r"inference (\d+)", lines[result])[1])
        _check_profile(core, lines[result + 1 : result + 3], inference)
    assert lines[3].startswith("result 1: error: sub is not wanted here")
    assert _read(folder / "one-0.bin") == _read(folder / "two-0.bin") == _EXPECTED
    assert _run("universal", core, folder, "--batch", "list.txt", "--verbose")[0] == 1


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--output-prefix", "out"], "the method has 2 inputs, but 0 files were given"),
        (["--input", "x.bin", "--output-prefix", "out"], "the method has 2 inputs, but 1 files were given"),
        (_ARGUMENTS[:4], "--output-prefix is missing: where the outputs are written"),
        (
            ["--input", "x.bin", "--input", "short.bin", *_ARGUMENTS[4:]],
            "input 1 has 24 bytes, but the file short.bin has 4",
        ),
        (["--input", "x.bin", "--input", "no.bin", *_ARGUMENTS[4:]], "there is no file no.bin"),
        ([*_ARGUMENTS[:4], "--output-prefix", "no/out"], "cannot create the file no/out-0.bin"),
        ([*_ARGUMENTS, "--repeat", "0"], "--repeat needs a number from 1 to 100000000, not 0"),
        ([*_ARGUMENTS, "--repeat", "1x"], "--repeat needs a number from 1 to 100000000, not 1x"),
        ([*_ARGUMENTS, "--color", "red"], "unknown option --color"),
        ([*_ARGUMENTS, "--input"], "unknown option, or an option without its value: --input"),
        (["--input", "x"] * 17, "more than 16 inputs, from x"),
    ],
)
def test_embedded_refuses(core, folder, args, error):
    assert _run("embedded", core, folder, *args) == (1, f"error: {error}\n")
    assert not (folder / "out-0.bin").exists()


def _batch(core, folder, *lines):
    (folder / "list.txt").write_text("".join(line + "\n" for line in lines))
    status, stdout = _run("universal", core, folder, "--batch", "list.txt")
    results = [line for line in stdout.splitlines() if line.startswith("result ")]
    assert [line.split(":")[0] for line in results] == [f"result {i}" for i in range(len(results))]
    return status, [line.split(": ", 1)[1] for line in results]


def test_universal_runs_many_programs(core, folder):
    status, results = _batch(core, folder, "add.pte x.bin y.bin planned", "unplanned.pte x.bin y.bin unplanned")
    assert status == 0
    assert all(re.fullmatch(r"ok, load \d+, inference \d+, arena \d+, state \d+", result) for result in results)
    assert _read(folder / "planned-0.bin") == _read(folder / "unplanned-0.bin") == _EXPECTED


def test_universal_goes_on_after_errors(core, folder, all_programs):
    (folder / "cut.pte").write_bytes(all_programs["add"][:-100])
    status, results = _batch(
        core,
        folder,
        "sub.pte x.bin y.bin out",
        "div.pte x.bin y.bin out",
        "add.pte x.bin out",
        "add.pte x.bin short.bin out",
        "no.pte x.bin y.bin out",
        "cut.pte x.bin y.bin out",
        "add.pte x.bin y.bin good",
    )
    assert status == 0
    assert results[0].startswith("error: sub is not wanted here (aten::sub, instruction 0")
    assert results[1].startswith("error: no kernel") and "aten::div" in results[1]
    assert results[2] == "error: the method has 2 inputs, but 1 files were given"
    assert results[3] == "error: input 1 has 24 bytes, but the file short.bin has 4"
    assert results[4] == "error: there is no file no.pte"
    assert results[5].startswith("error: ")
    assert results[6].startswith("ok")
    assert not (folder / "out-0.bin").exists()
    assert _read(folder / "good-0.bin") == _EXPECTED


def test_universal_refuses_corrupted_programs_and_never_faults(core, folder, all_programs):
    """Each bit of a few bytes, spread over the file, is flipped: refused or run, but the simulator goes on."""
    program = all_programs["add"]
    lines = []
    for position in range(0, len(program), 7):
        damaged = bytearray(program)
        damaged[position] ^= 1 << (position // 7 % 8)
        name = f"damaged{position}.pte"
        (folder / name).write_bytes(damaged)
        lines.append(f"{name} x.bin y.bin d")
    status, results = _batch(core, folder, *lines)
    assert status == 0
    assert len(results) == len(lines)
    assert all(result.startswith(("ok", "error: ")) for result in results)
    assert sum(result.startswith("error: ") for result in results) > len(lines) // 10


def test_universal_refuses_truncated_programs(core, folder, all_programs):
    program = all_programs["add"]
    lines = []
    for length in range(0, len(program), 37):
        (folder / f"cut{length}.pte").write_bytes(program[:length])
        lines.append(f"cut{length}.pte x.bin y.bin d")
    status, results = _batch(core, folder, *lines)
    assert status == 0
    assert len(results) == len(lines)
    assert all(result.startswith("error: ") for result in results)


def test_fault_in_a_kernel_names_it(core, folder):
    if core == "host":
        return
    with pytest.raises(simulator.SimulatorError) as caught:
        _batch(core, folder, "add.pte x.bin y.bin out", "mul.pte x.bin y.bin out")
    assert caught.value.kind == "fault"
    assert "in instruction 0, aten::mul" in str(caught.value)


@pytest.mark.parametrize("line", ["", "add.pte", " ".join(["word"] * 65)])
def test_universal_refuses_a_bad_line(core, folder, line):
    status, results = _batch(core, folder, line)
    assert status == 1
    assert results == ["error: the line does not have a program, at most 62 inputs and an output prefix"]


def test_universal_without_its_list(core, folder):
    assert _run("universal", core, folder) == (
        1,
        "error: usage: runner --batch LIST [--limit N | --profile | --trace]\n",
    )
    assert _run("universal", core, folder, "--batch", "no.txt") == (1, "error: there is no file no.txt\n")
    for text in ("", "add.pte x.bin y.bin out"):
        (folder / "list.txt").write_text(text)
        message = "error: the list does not end with a line break: list.txt\n"
        assert _run("universal", core, folder, "--batch", "list.txt") == (1, message)
