"""A fixed, short run of the fuzzer: nothing is found, and what it does is worth the time."""

import re
import subprocess
from pathlib import Path

import pytest

_FUZZ = Path("cortex_m/runtime/fuzz").resolve()
_RUNS = 10000
_HOSTILE = sorted(Path("cortex_m/runner/testing/hostile").resolve().glob("*.pte"))


def _run(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([_FUZZ, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def printed() -> str:
    result = _run("--extremes", f"--runs={_RUNS}", "--seed=20261201")
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


def test_every_kernel_is_called_and_succeeds(printed):
    (found,) = re.findall(r"^kernels that returned ok: (\d+) of (\d+)$", printed, re.MULTILINE)
    assert found[0] == found[1] and int(found[0]) > 200, printed


def test_calls_reach_behind_the_first_checks(printed):
    (calls, share) = re.findall(r"^kernel calls: (\d+), ok: ([\d.]+) %$", printed, re.MULTILINE)[0]
    assert int(calls) > 40000
    assert 30 < float(share) < 98  # and some are refused: the mutations do something


def test_programs_are_refused_and_run(printed):
    numbers = re.findall(
        r"^programs: (\d+), refused: (\d+), not initialised: (\d+), ran: (\d+)$", printed, re.MULTILINE
    )
    programs, refused, _, ran = map(int, numbers[0])
    assert programs > _RUNS and refused > programs / 10 and ran > programs / 4


def test_what_was_found_once_is_refused(tmp_path):
    assert len(_HOSTILE) == 5
    result = _run(*_HOSTILE, cwd=tmp_path)
    assert result.returncode == 0 and result.stdout.count(": refused\n") == 5


def test_an_unknown_option_and_no_program_are_told(tmp_path):
    assert _run("--run=5", cwd=tmp_path).stderr == "fuzz: unknown option --run=5\n"
    assert "there is no program to start from" in _run("--runs=5", cwd=tmp_path).stderr
