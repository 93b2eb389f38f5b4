"""Writes the table of patterns into docs/quantizer.md.

    python -m cortex_m.quantizer.document docs/quantizer.md

`document_test` compares; what stands between the two marks is never edited by hand.
"""

import sys
from pathlib import Path

from cortex_m.quantizer.patterns import pattern_table

BEGIN = "<!-- Made by `python -m cortex_m.quantizer.document docs/quantizer.md`; document_test compares. -->\n"
END = "<!-- End of what is made. -->\n"

_HEADER = ("pattern", "operators (aten)", "fused after it (aten)", "types", "scale of the output", "limits")


def table() -> str:
    """The pattern table in Markdown."""
    lines = [_HEADER, ["---"] * len(_HEADER)]
    for row in pattern_table():
        lines.append([cell.replace("aten.", "").replace(".default", "").replace("|", "\\|") for cell in row])  # noqa: PERF401
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def updated(text: str) -> str:
    """`text` with the table of today between its marks. ValueError if it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the file has no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}{table()}{end}{after}"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(updated(document.read_text()))
