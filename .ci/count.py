"""Counts tests in a file of Bazel's build events; prints the slowest, the failed ones, and "N passed, N failed".

    python3 count.py EVENTS STATUS [LABEL=STATUS...]

A target that could not be analysed or built counts as failed, whether it is a test or not; what does not fit the
platform is not counted. STATUS is Bazel's exit status: with one that is not 0 there is always a failure to count. What
ran outside of `bazel test` is counted by its LABEL and exit status.
Runs with any Python 3.
"""

import json
import sys
from pathlib import Path

SLOWEST = 20


def count(lines, status):
    """(passed, failed, seconds) from the events' lines of JSON: sets of labels, and how long each test ran that ran now."""
    passed, failed, seconds = set(), set(), {}
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        summary = event.get("testSummary")
        completed = identity.get("targetCompleted")
        if summary:
            label = identity["testSummary"]["label"]
            (passed if summary["overallStatus"] in ("PASSED", "FLAKY") else failed).add(label)
            if summary.get("totalNumCached", 0) < summary.get("totalRunCount", 1):
                seconds[label] = int(summary.get("totalRunDurationMillis", 0)) / 1000
        elif (
            completed
            and event.get("aborted", {}).get("reason") != "SKIPPED"
            and not event.get("completed", {}).get("success")
        ):
            failed.add(completed["label"])
    if status != 0 and not failed:
        failed.add("bazel")
    return passed - failed, failed, seconds


def main(events, status, *others):
    with Path(events).open(encoding="utf-8") as lines:
        passed, failed, seconds = count(lines, int(status))
    for other in others:
        label, _, result = other.partition("=")
        (passed if result == "0" else failed).add(label)
    slowest = sorted(((took, label) for label, took in seconds.items() if took), reverse=True)[:SLOWEST]
    if slowest:
        print(f"the slowest of {len(seconds)} tests that ran, in seconds:")
    for took, label in slowest:
        print(f"{took:8.1f}  {label}")
    for label in sorted(failed):
        print(f"failed: {label}")
    print(f"{len(passed)} passed, {len(failed)} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
