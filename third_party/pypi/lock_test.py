"""The locks agree with requirements.in, and the reader of requirements.in with what it says."""

import re
from pathlib import Path

from third_party.pypi import lock

FOLDER = Path("third_party/pypi")


def pins(file: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (FOLDER / file).read_text(), re.MULTILINE))


def test_parse():
    source = lock.parse(
        "torch==2.13.0\n\n# words\nPyYAML  # why\nweights==1  # no-deps\n# without: A_b c.d\n# without: e\n"
    )
    assert source == lock.Source(["torch==2.13.0", "PyYAML"], ["weights==1"], {"a-b", "c-d", "e"})


def test_locks_hold_what_is_asked_for():
    source = lock.parse((FOLDER / "requirements.in").read_text())
    locked = pins("requirements.txt") | {"torch": pins("requirements-cpu.txt")["torch"].removesuffix("+cpu")}
    for requirement in source.resolved + source.alone:
        name, _, version = requirement.partition("==")
        assert lock.normalize(name) in locked
        assert version in ("", locked[lock.normalize(name)])
    assert not source.without & set(locked)


def test_cpu_and_cuda_builds_are_of_one_version():
    assert pins("requirements-cpu.txt") == {"torch": pins("requirements-cuda.txt")["torch"] + "+cpu"}


def test_no_package_is_locked_twice():
    assert not set(pins("requirements.txt")) & set(pins("requirements-cuda.txt"))


def test_each_pin_has_a_hash():
    for file in ("requirements.txt", "requirements-cpu.txt", "requirements-cuda.txt"):
        entries = re.findall(
            r"^\S+==\S+ \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", (FOLDER / file).read_text(), re.MULTILINE
        )
        assert len(entries) == len(pins(file)) > 0
