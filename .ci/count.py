"""Counts tests in a file of Bazel's build events and prints "N passed, N failed".

    python3 count.py EVENTS STATUS

A target that could not be analysed or built counts as failed, whether it is a test or not; what does not fit the
platform is not counted. STATUS is Bazel's exit status: with one that is not 0 there is always a failure to count.
Runs with any Python 3.
"""

import json
import sys
from pathlib import Path


def count(lines, status):
    """(passed, failed) from the events' lines of JSON."""
    passed, failed = set(), set()
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        summary = event.get("testSummary")
        completed = identity.get("targetCompleted")
        if summary:
            label = identity["testSummary"]["label"]
            (passed if summary["overallStatus"] in ("PASSED", "FLAKY") else failed).add(label)
        elif (
            completed
            and event.get("aborted", {}).get("reason") != "SKIPPED"
            and not event.get("completed", {}).get("success")
        ):
            failed.add(completed["label"])
    if status != 0 and not failed:
        return len(passed), 1
    return len(passed - failed), len(failed)


def main(events, status):
    with Path(events).open(encoding="utf-8") as lines:
        passed, failed = count(lines, int(status))
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
