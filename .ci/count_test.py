"""The counter of CI, on events as Bazel writes them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def summary(label: str, status: str, **more) -> dict:
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status, **more}}


def completed(label: str, **content) -> dict:
    return {"id": {"targetCompleted": {"label": label}}, **content}


BUILT = {"completed": {"success": True}}
BROKEN: dict = {"completed": {}}
SKIPPED = {"aborted": {"reason": "SKIPPED"}}
NOT_ANALYSED = {"aborted": {"reason": "ANALYSIS_FAILURE"}}


@pytest.mark.parametrize(
    ("events", "status", "line"),
    [
        ([completed("//a:t", **BUILT), summary("//a:t", "PASSED")], 0, "1 passed, 0 failed"),
        ([summary("//a:t", "FLAKY"), summary("//a:u", "FAILED"), summary("//a:v", "TIMEOUT")], 3, "1 passed, 2 failed"),
        ([completed("//a:library", **BROKEN), summary("//a:t", "NO_STATUS")], 1, "0 passed, 2 failed"),
        ([completed("//a:t", **BROKEN), summary("//a:t", "NO_STATUS")], 1, "0 passed, 1 failed"),
        (
            [completed("//a:t", **SKIPPED), completed("//a:u", **BUILT), summary("//a:u", "PASSED")],
            0,
            "1 passed, 0 failed",
        ),
        ([completed("//a:t", **NOT_ANALYSED), summary("//a:u", "PASSED")], 1, "1 passed, 1 failed"),
        ([], 1, "0 passed, 1 failed"),
        ([{"id": {"started": {}}}, {"id": {"progress": {}}, "progress": {}}], 0, "0 passed, 0 failed"),
    ],
)
def test_last_line(tmp_path: Path, events: list, status: int, line: str):
    assert count(tmp_path, events, status)[-1] == line


def count(folder: Path, events: list, *arguments: object) -> list[str]:
    """The printed lines."""
    file = folder / "events.json"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    command = [sys.executable, ".ci/count.py", str(file), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_what_ran_beside_bazel_counts(tmp_path: Path):
    events = [summary("//a:t", "PASSED")]
    assert count(tmp_path, events, 0, "//tools:lint=0") == ["2 passed, 0 failed"]
    assert count(tmp_path, events, 0, "//tools:lint=1") == ["failed: //tools:lint", "1 passed, 1 failed"]


def test_the_slowest_come_first_and_cached_ones_not_at_all(tmp_path: Path):
    events = [
        summary(f"//a:t{n}", "PASSED", totalRunCount=1, totalRunDurationMillis=str(n * 100)) for n in range(1, 25)
    ]
    events.append(summary("//a:cached", "PASSED", totalRunCount=1, totalNumCached=1, totalRunDurationMillis="9000"))
    lines = count(tmp_path, events, 0)
    assert lines[:3] == ["the slowest of 24 tests that ran, in seconds:", "     2.4  //a:t24", "     2.3  //a:t23"]
    assert len(lines) == 1 + 20 + 1 and lines[-1] == "25 passed, 0 failed"
