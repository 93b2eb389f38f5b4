"""The table of rooms against small trees of files."""

from pathlib import Path

import pytest

from tools import structure

PAGE = """
| room | takes → gives | Python knows | C and C++ know |
| --- | --- | --- | --- |
| `base` (files) | names | | |
| `export` (files) | source → result | `base` `passes` | |
| `passes` | graph → graph | `base` | |
| `nn` | pointers → results | | |
| `ops` | arguments → result | | `nn` |
"""
FILES = {
    "docs/architecture.md": PAGE,
    "cortex_m/__init__.py": "",
    "cortex_m/seal.py": "import zlib\n",
    "cortex_m/export.py": "from cortex_m import seal\nfrom cortex_m.passes.fold import fold\n",
    "cortex_m/passes/__init__.py": "",
    "cortex_m/passes/fold.py": "import torch\nimport cortex_m.seal\n",
    "cortex_m/nn/add.c": '#include "cortex_m/nn/add.h"\n',
    "cortex_m/ops/add.cc": '#include <vector>\n#include "cortex_m/nn/add.h"\n',
}


@pytest.fixture
def differences(tmp_path: Path):
    """The lines for FILES with some of them changed."""

    def find(**changed: str) -> list[str]:
        files = FILES | {name.replace("__", "/").replace("_dot_", "."): text for name, text in changed.items()}
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return structure.differences(sorted(files), tmp_path)

    return find


def test_a_true_page_has_no_differences(differences):
    assert differences() == []


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        ("from cortex_m.passes.fold import fold", "passes (cortex_m/passes/fold.py)"),
        ("from cortex_m.passes import fold", "passes (cortex_m/passes/fold.py)"),
        ("import cortex_m.passes.fold", "passes (cortex_m/passes/fold.py)"),
        ("from cortex_m import seal", "base (cortex_m/seal.py)"),
    ],
)
def test_an_import_that_the_page_does_not_allow_is_named(differences, statement, known):
    line = f"ops may not know {known}, says docs/architecture.md"
    assert differences(cortex_m__ops__twin_dot_py=f"{statement}\n") == [f"cortex_m/ops/twin.py:1: {line}"]
    inside = f"def f():\n    {statement}\n"
    assert differences(cortex_m__ops__twin_dot_py=inside) == [f"cortex_m/ops/twin.py:2: {line}"]


def test_an_include_that_the_page_does_not_allow_is_named(differences):
    assert differences(cortex_m__nn__up_dot_c='// text\n#include "cortex_m/ops/add.h"\n') == [
        "cortex_m/nn/up.c:2: nn may not know ops (cortex_m/ops/add.h), says docs/architecture.md"
    ]


def test_tests_may_know_everything(differences):
    for name in (
        "cortex_m__nn__add_test_dot_cc",
        "cortex_m__nn__testing__all_dot_c",
        "cortex_m__nn__add_test_util_dot_h",
    ):
        assert differences(**{name: '#include "cortex_m/ops/add.h"\n'}) == []


def test_what_is_listed_and_not_there_is_named(differences):
    assert differences(cortex_m__ops__add_dot_cc="// by itself\n") == [
        "docs/architecture.md: no C file of ops knows nn any more"
    ]


def test_a_room_without_a_row_is_named(differences):
    assert differences(cortex_m__attic__a_dot_py="import cortex_m.seal\n") == [
        "cortex_m/attic/a.py: docs/architecture.md has no room attic"
    ]
