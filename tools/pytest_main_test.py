"""How Bazel's environment of a test reaches pytest: filter, shards, report; and that a failing test fails."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

CASES = "\n".join(f"def test_{name}():\n    print('ran {name}')\n" for name in ("a", "b", "c", "d", "e"))


@pytest.fixture
def run(tmp_path: Path):
    """Runs tools/pytest_main.py on a file of tests with variables of Bazel; gives status and names of the tests that ran."""

    def run_cases(text: str = CASES, **variables: str):
        file = tmp_path / "cases.py"
        file.write_text(text)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEST", "XML_"))}
        report = tmp_path / "report.xml"
        environment = {**kept, "XML_OUTPUT_FILE": str(report), **variables}
        result = subprocess.run(
            [sys.executable, "tools/pytest_main.py", str(file)],
            env=environment,
            capture_output=True,
            check=False,
            text=True,
        )
        return result.returncode, [case.get("name") for case in ElementTree.parse(report).iter("testcase")]

    return run_cases


def test_all_cases_run_and_are_reported(run):
    assert run() == (0, ["test_a", "test_b", "test_c", "test_d", "test_e"])


def test_filter_selects(run):
    assert run(TESTBRIDGE_TEST_ONLY="test_a or test_d") == (0, ["test_a", "test_d"])


def test_shards_split_the_cases_without_loss(run, tmp_path):
    shards = [
        run(TEST_TOTAL_SHARDS="2", TEST_SHARD_INDEX=str(index), TEST_SHARD_STATUS_FILE=str(tmp_path / "s"))
        for index in (0, 1)
    ]
    assert shards == [(0, ["test_a", "test_c", "test_e"]), (0, ["test_b", "test_d"])]
    assert (tmp_path / "s").exists()


def test_an_empty_shard_passes_but_a_file_without_tests_fails(run):
    one_case = "def test_a():\n    pass\n"
    assert run(one_case, TEST_TOTAL_SHARDS="2", TEST_SHARD_INDEX="1") == (0, [])
    assert run("x = 1\n")[0] != 0


@pytest.mark.parametrize(
    "text",
    ["def test_a():\n    assert 1 == 2\n", "import no_such_module\n", "def test_a(no_such_fixture):\n    pass\n"],
)
def test_failures_fail(run, text):
    assert run(text)[0] != 0


def test_hypothesis_draws_the_same_examples_each_time(run, tmp_path):
    drawn = tmp_path / "drawn"
    text = (
        "from hypothesis import given, strategies\n"
        f"@given(strategies.integers(-1000, 1000))\ndef test_a(x):\n    open({str(drawn)!r}, 'a').write(f'{{x}} ')\n"
    )
    runs = []
    for _ in range(2):
        assert run(text) == (0, ["test_a"])
        runs.append(drawn.read_text())
        drawn.unlink()
    assert runs[0] == runs[1] and len(set(runs[0].split())) > 20
