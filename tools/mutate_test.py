"""Mutations apply to the text as it is, a fixed part of them is killed, and the tool says what was not."""

import subprocess
from pathlib import Path

import pytest

from tools import mutate

# The workspace itself, behind the links of the runfiles.
WORKSPACE = Path("WORKSPACE").resolve().parent
MUTATIONS = mutate.read(WORKSPACE / "tools" / "mutations")


def status() -> str:
    return subprocess.run(
        ["git", "-C", WORKSPACE, "status", "--short"], capture_output=True, text=True, check=False
    ).stdout


def test_every_mutation_applies_to_the_current_text():
    assert mutate.stale(MUTATIONS, WORKSPACE) == []


def test_there_are_enough_in_every_room():
    assert len(MUTATIONS) >= 60
    assert {mutation.room for mutation in MUTATIONS} == set(mutate.ROOMS)


def mutation(file: str, text: str, replacement: str, tests: tuple[str, ...]) -> mutate.Mutation:
    return mutate.Mutation("memory", "one", file, text, replacement, "", tests)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository of one function, whose test sees half of what it does."""
    source = tmp_path / "source"
    (source / "tools").mkdir(parents=True)
    (source / "tools" / "pytest_main.py").write_text((WORKSPACE / "tools" / "pytest_main.py").read_text())
    (source / "half.py").write_text("def half(x):\n    return x // 2 if x > 0 else 0\n")
    (source / "half_test.py").write_text("from half import half\n\n\ndef test_half():\n    assert half(6) == 3\n")
    monkeypatch.setitem(mutate._TESTS, "memory", ("half_test.py",))
    return mutate.Tree(source, tmp_path / "work", {})


@pytest.mark.parametrize(
    ("text", "replacement", "verdict"),
    [
        ("x // 2", "x // 3", mutate.KILLED),
        ("else 0", "else 1", mutate.SURVIVED),
        ("x // 4", "x // 3", mutate.STALE),
        ("x", "y", mutate.STALE),  # it stands there more than once
        ("def half(x):", "def half(x:", mutate.KILLED),
    ],
)
def test_verdicts(tree, text, replacement, verdict):
    original = (tree.root / "half.py").read_text()
    assert tree.test(mutation("half.py", text, replacement, ())) == verdict
    assert (tree.root / "half.py").read_text() == original


def test_tests_that_cannot_be_run_kill_nothing(tree):
    assert tree.test(mutation("half.py", "x // 2", "x // 3", ("missing_test.py",))) == mutate.BROKEN


def test_tests_that_fail_without_the_fault_kill_nothing(tree):
    (tree.root / "half_test.py").write_text("def test_half():\n    raise AssertionError\n")
    assert tree.test(mutation("half.py", "x // 2", "x // 3", ())) == mutate.BROKEN


@pytest.mark.parametrize("text", ["1", "3/3", "a/2", "1/-2"])
def test_a_fraction_is_one_part_of_several(text):
    with pytest.raises(SystemExit):
        mutate.main([f"--fraction={text}"])


def test_names_are_unique(tmp_path):
    entry = "- {name: a, file: f, text: x, replacement: y, why: w}\n"
    (tmp_path / "memory.yaml").write_text(entry * 2)
    with pytest.raises(ValueError, match="names twice: \\['a'\\]"):
        mutate.read(tmp_path)


def test_a_tenth_of_the_mutations_of_python_is_killed_and_leaves_the_checkout_alone():
    """Those that need no Bazel of their own: that, from nothing, would take longer than this test may."""
    before = status()
    chosen = [one for one in MUTATIONS if one.tests and not any(test.startswith("//") for test in one.tests)][::10]
    verdicts = mutate.run(chosen, WORKSPACE)
    assert set(verdicts.values()) == {mutate.KILLED}, verdicts
    assert status() == before
