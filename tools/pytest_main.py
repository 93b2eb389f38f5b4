"""Runs pytest on the files that a `pytest_test` names, as Bazel expects a test to behave.

Honours Bazel's test filter, sharding and XML report. Test runs are alike: hypothesis draws the same examples each time,
no plugin is loaded but hypothesis' own, and nothing is written beside the sources.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PLUGINS = ("no:cacheprovider", "_hypothesis_pytestplugin")


class Sharding:
    """Keeps every n-th test case, where Bazel splits a test into n processes."""

    def __init__(self, environment: Mapping[str, str]):
        self.count = int(environment.get("TEST_TOTAL_SHARDS", "1"))
        self.index = int(environment.get("TEST_SHARD_INDEX", "0"))
        if "TEST_SHARD_STATUS_FILE" in environment:
            Path(environment["TEST_SHARD_STATUS_FILE"]).touch()

    def pytest_collection_modifyitems(self, items: list) -> None:
        items[:] = items[self.index :: self.count]


def pytest_arguments(files_and_options: list[str], environment: dict[str, str]) -> list[str]:
    """Arguments for pytest, from those of the target and from Bazel's environment of a test."""
    arguments = [
        "--import-mode=importlib",
        "--rootdir=.",
        "--config-file=/dev/null",
        "--strict-markers",
        "-ra",
        "--color=no",
    ]
    for plugin in PLUGINS:
        arguments += ["-p", plugin]
    if "XML_OUTPUT_FILE" in environment:
        arguments.append(f"--junitxml={environment['XML_OUTPUT_FILE']}")
    if "TESTBRIDGE_TEST_ONLY" in environment:
        arguments += ["-k", environment["TESTBRIDGE_TEST_ONLY"]]
    if "TEST_TMPDIR" in environment:
        arguments.append(f"--basetemp={environment['TEST_TMPDIR']}/pytest")
    return arguments + files_and_options


def make_hypothesis_deterministic() -> None:
    """The same examples in every run, no data base of failures, no time limit that a busy machine breaks."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "bazel", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("bazel")


def main() -> int:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    make_hypothesis_deterministic()
    sharding = Sharding(os.environ)
    status = pytest.main(pytest_arguments(sys.argv[1:], dict(os.environ)), plugins=[sharding])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and sharding.count > 1:
        return 0
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
