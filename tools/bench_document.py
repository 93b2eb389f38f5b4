"""Writes the tables of the recorded bench into docs/measured.md.

    python -m tools.bench_document docs/measured.md

bench_document_test compares; what stands between the two marks is never edited by hand. The figures are those of
bench_recorded.json, which `bazel run //tools:bench -- --record tools/bench_recorded.json` measures.
"""

import sys
from pathlib import Path

from tools import bench

BEGIN = "<!-- Made by `python -m tools.bench_document docs/measured.md`; bench_document_test compares. -->\n"
COMPILER = "gcc 12"  # whose record the page shows: Debian 12's
END = "<!-- End of what is made. -->\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _instructions(kind: str, figures: dict[str, dict[str, bench.Figures]]) -> str:
    """A row for each case, two columns for each core: instructions and their ratio to the peer's."""
    table = {core: bench.rows(core, kind, measured) for core, measured in figures.items()}
    text = _line([kind, *(title for core in table for title in (f"{core.upper()}, instructions", "of the peer's"))])
    text += _line(["---", *["---:"] * (2 * len(table))])
    for cases in zip(*table.values(), strict=True):
        cells = [cell for row in cases for cell in (f"{row['instructions']:,}", f"{row['ratio']:.3f}")]
        text += _line([cases[0]["case"], *cells])
    means = [cell for rows in table.values() for cell in ("", f"**{bench.geometric_mean(rows):.3f}**")]
    return text + _line(["**geometric mean**", *means])


def _bytes(figures: dict[str, dict[str, bench.Figures]]) -> str:
    text = _line(["model, M55", "flash, bytes", "of the peer's", "RAM, bytes", "of the peer's"])
    text += _line(["---", *["---:"] * 4])
    for case, flash, peer_flash, ram, peer_ram in bench.memory_rows(bench.rows("m55", "model", figures["m55"])):
        text += _line([case, f"{flash:,}", f"{flash / peer_flash:.3f}", f"{ram:,}", f"{ram / peer_ram:.3f}"])
    return text


def tables() -> str:
    """The recorded figures in Markdown, beside the peer's."""
    recorded = bench.recorded()[COMPILER]
    layers = {
        core: {case: {"instructions": count} for case, count in recorded[core].items()}
        for core in bench.yardstick()["layer"]
    }
    models = recorded["model"]
    versions = bench.yardstick()["versions"]
    return (
        f"Ours: {COMPILER}, QEMU with -icount. The peer: {versions['peer']} ({versions['compiler']}; "
        f"{versions['simulator']}); {versions['runtime']}.\n\n"
        f"{_instructions('layer', layers)}\n{_instructions('model', models)}\n{_bytes(models)}"
    )


def updated(text: str) -> str:
    """`text` with the tables of today between its marks. ValueError if it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the file has no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}{tables()}{end}{after}"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(updated(document.read_text()))
