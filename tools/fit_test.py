"""The fit command as a person runs it, and its verdicts on programs that do not fit."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_m.boards import boards
from cortex_m.parts import parts
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


def table_rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│")]


def test_parts_come_by_size_and_what_lacks_memory_by_lack():
    done = fit(str(PROGRAM))
    text = done.stdout[: done.stdout.index("Simulated boards")]
    rows = table_rows(text)
    sizes = [parts.load(row[0]).flash_bytes + parts.load(row[0]).ram_bytes for row in rows]
    assert sizes == sorted(sizes) and f"Fits {len(rows)} of {len(parts.table())} microcontrollers" in text
    by_name = {row[0]: row[1:] for row in rows}
    # 1 MiB less 54,240 bytes, 256 KiB less 20,464.
    assert by_name["nrf52840"] == ["Nordic", "cortex_m4", "64", "flash", "994,336", "RAM", "241,680"]
    # 16 KiB hold neither the arena of 20,464 bytes nor 6 KiB beside it; 64 KiB hold 54,240 bytes, but not 24 KiB of code as well.
    assert "  nrf51822 (cortex_m0): RAM 10,224 bytes" in text
    assert (
        "Does not fit 1: too little flash and RAM\n  stm32f103c8 (cortex_m3): flash 13,280 bytes, RAM 6,128 bytes"
        in text
    )
    lacks = [
        int(line.rsplit(" ", 2)[1].replace(",", ""))
        for line in text.split("too little RAM\n")[1].split("\nDoes")[0].splitlines()
    ]
    assert lacks == sorted(lacks) and len(lacks) > 2
    assert len(rows) + text.count("\n  ") == len(parts.table())


def test_one_part_alone():
    done = fit(str(PROGRAM), "--part=STM32L4R5ZIT6", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["fits"] == [] and found["parts"] == [
        {
            "name": "stm32l4r5zi", "core": "cortex_m4", "reason": None, "missing": {}, "program": "flash", "arena": "SRAM",
            "code_bytes": (2 << 20) - 54240, "data_bytes": (640 << 10) - 20464,
        }
    ]  # fmt: skip
    assert fit(str(PROGRAM), "--part=nrf51822").returncode == 1


def test_every_core_has_a_row():
    done = fit(str(PROGRAM))
    assert done.returncode == 0, done.stderr
    rows = table_rows(done.stdout[done.stdout.index("Simulated boards") :])
    assert [row[0] for row in rows] == list(core_table())
    assert all(row[1] == boards.for_core(row[0]) and row[2] == "yes" for row in rows)
    assert "flash 54,240 bytes for the .pte, RAM 20,464 bytes for the arena" in done.stdout


def test_json_from_another_folder():
    done = fit(PROGRAM.name, "--core=cortex-m55", "--json", cwd=str(PROGRAM.absolute().parent))
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
    done = fit(str(path), "--core=cortex_m4")
    assert done.returncode == 1 and "it was exported for cortex-m55 (MVE)" in " ".join(done.stdout.split())
    assert fit(str(path), "--core=cortex_m85").returncode == 0
    done = fit(str(path), "--part=nrf52840")
    assert (
        done.returncode == 1
        and "it was exported for cortex-m55: export it for any core, or for this one" in done.stdout
    )
    assert fit(str(path), "--part=alif_e3_he").returncode == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ([], "name one .pte, not 0"),
        (["{folder}/none.pte"], "there is no file {folder}/none.pte"),
        (["{folder}"], "is a folder"),
        (["{folder}/cut.pte"], "{folder}/cut.pte is refused: "),
        ([str(PROGRAM), "--core=cortex_a53"], "--core=cortex_a53: there is no such core; known are cortex_m0"),
        ([str(PROGRAM), "--part=stm32l4r9"], "there is no part stm32l4r9 in parts.yaml; alike are stm32l4r5zi, "),
        ([str(PROGRAM), "--part=nrf52840", "--core=cortex_m4"], "give either --part or --core"),
        ([str(PROGRAM), "--method=backward"], "the program has no method backward; it has forward"),
        ([str(PROGRAM), "stray"], "name one .pte, not 2"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, flags, sentence):
    (tmp_path / "cut.pte").write_bytes(PROGRAM.read_bytes()[:1000])
    done = fit(*(flag.format(folder=tmp_path) for flag in flags))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("fit: error: ") and done.stderr.count("\n") == 1, done.stderr
    assert sentence.format(folder=tmp_path) in done.stderr


def test_help_has_examples():
    assert "bazel run //tools:fit -- model.pte" in fit("--help").stdout
