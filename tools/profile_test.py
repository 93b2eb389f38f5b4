"""bazel run //tools:profile on a DS-CNN."""

import re
from pathlib import Path

import pytest
from absl.testing import flagsaver

from tools import profile_program

_PROGRAM = str(Path("cortex_m/test/upstream_programs/ds_cnn_m55.pte").resolve())


@pytest.fixture(autouse=True)
def _flags():
    if not profile_program.FLAGS.is_parsed():
        profile_program.FLAGS.mark_as_parsed()


def test_the_hottest_blocks_come_first_and_add_up(capsys):
    with flagsaver.flagsaver(core="cortex_m55", top=10**6):
        assert profile_program.main(["profile", _PROGRAM]) == 0
    out = capsys.readouterr().out
    total, waits = (int(found.replace(",", "")) for found in re.search(r"inference ([\d,]+) cycles, an estimate.* these ([\d,]+) w", out).groups())  # fmt: skip
    blocks = [int(count.replace(",", "")) for count in re.findall(r": ([\d,]+) cycles, estimate;", out)]
    assert blocks == sorted(blocks, reverse=True)
    assert sum(blocks) + waits == pytest.approx(total, rel=1e-3)
    assert re.search(r"^    v(ld|st|ml|mul|add)", out, re.MULTILINE)
    assert "arm_convolve" in out or "packed" in out


@pytest.mark.parametrize(
    ("argv", "flags", "sentence"),
    [
        (["profile"], {}, "name one .pte"),
        (["profile", _PROGRAM], {"core": "cortex_m1"}, "there is no such core; known are cortex_m0,"),
        (["profile", _PROGRAM], {"runner": "/nowhere.elf"}, "there is no file /nowhere.elf"),
        (["profile", "/nowhere.pte"], {}, "there is no file /nowhere.pte"),
    ],
)
def test_mistakes_are_told_in_a_sentence(argv, flags, sentence, capsys):
    with flagsaver.flagsaver(**flags):
        assert profile_program.main(argv) == 1
    assert sentence in capsys.readouterr().err
