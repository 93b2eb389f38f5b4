"""The fit command as a person runs it, and its verdicts on programs that do not fit."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_m.boards import boards
from cortex_m.seal import seal
from cortex_m.target_config import CortexM, CortexMTargetConfig, core_table
from tools import fit as tool
from tools.program_file import read_program

PROGRAM = Path("cortex_m/test/upstream_programs/ds_cnn_m55.pte")


def fit(*flags: str, cwd: str | None = None) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path.cwd()), *sys.path]))
    if cwd is not None:
        environment["BUILD_WORKING_DIRECTORY"] = cwd
    return subprocess.run([sys.executable, "tools/fit.py", *flags], capture_output=True, text=True, env=environment)


def test_every_core_has_a_row():
    done = fit(f"--program={PROGRAM}")
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines() if line.startswith("│")
    ]
    assert [row[0] for row in rows] == list(core_table())
    assert all(row[1] == boards.for_core(row[0]) and row[2] == "yes" for row in rows)
    assert "flash 54,240 bytes for the .pte, RAM 20,464 bytes for the arena" in done.stdout


def test_json_from_another_folder():
    done = fit(f"--program={PROGRAM.name}", "--core=cortex_m55", "--json", cwd=str(PROGRAM.absolute().parent))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (row,) = found["fits"]
    assert (found["program_bytes"], found["arena_bytes"], found["target"]) == (54240, 20464, None)
    assert (row["model"], row["arena"], row["reason"]) == ("ITCM", "DTCM", None)
    # 512 KiB of ITCM less the .pte and 96 KiB; 512 KiB of DTCM less arena, 16 KiB of stack and 32 KiB.
    assert row["free"]["ITCM"] == 524288 - 98304 - 54240 and row["free"]["DTCM"] == 524288 - 16384 - 32768 - 20464
    assert 50_000 < row["code"] < 300_000


@pytest.fixture(scope="module")
def info():
    return read_program(str(PROGRAM.absolute()))[1]


def judged(info, core, **changes):
    changed = copy.deepcopy(info)
    method = changed["methods"][0]
    for name, value in changes.items():
        (changed if name in changed else method)[name] = value
    return tool.judge(changed, method, core)


def test_a_larger_arena_goes_into_a_larger_memory_until_there_is_none(info):
    assert judged(info, "cortex_m55", planned_bytes=[1 << 20]).arena == "SRAM"
    assert judged(info, "cortex_m55", planned_bytes=[1 << 24]).arena == "DDR"
    assert judged(info, "cortex_m4", planned_bytes=[1 << 22]).arena == "PSRAM"
    too_large = judged(info, "cortex_m4", planned_bytes=[1 << 25])
    assert too_large.reason == (
        "the arena of 33554432 bytes does not fit board mps2_an386: its largest memory for it, PSRAM, has 16777216 bytes left"
    )
    assert (
        "the program of 1073741824 bytes does not fit board mps3_an547"
        in judged(info, "cortex_m55", file_bytes=1 << 30).reason
    )


def test_missing_kernels_and_other_targets(info, tmp_path):
    missing = judged(
        info,
        "cortex_m4",
        instructions=[{"index": 3, "kind": "kernel", "operator": "aten::fft.out"}],
        operators=["aten::fft.out"],
    )
    assert "aten::fft.out (instruction 3" in missing.reason and missing.code is None
    path = tmp_path / "m55.pte"
    path.write_bytes(seal(PROGRAM.read_bytes(), CortexMTargetConfig(CortexM.M55)))
    done = fit(f"--program={path}", "--core=cortex_m4")
    assert done.returncode == 1 and "it was exported for cortex-m55 (MVE)" in " ".join(done.stdout.split())
    assert fit(f"--program={path}", "--core=cortex_m85").returncode == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ([], "--program is missing: name a .pte"),
        (["--program={folder}/none.pte"], "there is no file {folder}/none.pte"),
        (["--program={folder}"], "is a folder"),
        (["--program={folder}/cut.pte"], "{folder}/cut.pte is refused: "),
        (
            [f"--program={PROGRAM}", "--core=cortex_a53"],
            "--core=cortex_a53: there is no such platform; known are cortex_m0",
        ),
        ([f"--program={PROGRAM}", "--method=backward"], "the program has no method backward; it has forward"),
        ([f"--program={PROGRAM}", "stray"], "stray: arguments are given as flags"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, flags, sentence):
    (tmp_path / "cut.pte").write_bytes(PROGRAM.read_bytes()[:1000])
    done = fit(*(flag.format(folder=tmp_path) for flag in flags))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("fit: error: ") and done.stderr.count("\n") == 1, done.stderr
    assert sentence.format(folder=tmp_path) in done.stderr


def test_help_has_examples():
    assert "bazel run //tools:fit -- --program=model.pte" in fit("--help").stdout
