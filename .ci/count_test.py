"""The counter of CI, on events as Bazel writes them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def summary(label: str, status: str) -> dict:
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


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
    file = tmp_path / "events.json"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    result = subprocess.run(
        [sys.executable, ".ci/count.py", file, str(status)], capture_output=True, check=False, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, line + "\n", "")
