"""docs/quantizer.md shows the pattern table of today, and its Python runs."""

import re
from pathlib import Path

import pytest

from cortex_m.quantizer.document import table, updated
from cortex_m.quantizer.patterns import PATTERNS

DOCUMENT = Path("docs/quantizer.md")


def test_the_table_is_fresh():
    text = DOCUMENT.read_text()
    assert text == updated(text), "run: python -m cortex_m.quantizer.document docs/quantizer.md"


def test_the_table_has_a_row_for_each_pattern():
    rows = table().splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [pattern.name for pattern in PATTERNS]


def test_a_file_without_marks_is_refused():
    with pytest.raises(ValueError, match="has no lines"):
        updated("# Nothing to fill in\n")


def test_examples_are_python():
    """Each block compiles, and imports names that exist."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        compile(block, str(DOCUMENT), "exec")
        exec("\n".join(line for line in block.splitlines() if re.match(r"(from|import) ", line)), {})
