"""docs/operators.md says what the suites are now."""

from pathlib import Path

from cortex_m.ops.operators import read_schemas
from cortex_m.test.suite.document import document


def test_the_document_is_fresh():
    command = "python -m cortex_m.test.suite.document docs/operators.md"
    assert Path("docs/operators.md").read_text(encoding="utf-8") == document(), f"run `{command}`"


def test_every_operator_has_a_row():
    rows = [line for line in document().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(read_schemas())
