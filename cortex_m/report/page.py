"""The report as one HTML page that needs nothing else, and as tables for a terminal."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from rich import box
from rich.console import Console
from rich.table import Table

from cortex_m.report.figures import flash_picture, memory_picture
from cortex_m.report.flash import SECTIONS

_WIDTH = 160


def html(report: dict[str, Any]) -> str:
    """report: what `collect` made."""
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(
        thousands=lambda number: f"{number:,}",
        thousands_or_nothing=lambda number: f"{number:,}" if number else "",
        decibels=decibels,
        short=short,
        shapes=lambda tensors: Markup("<br>").join(text.removeprefix("int8 ").replace("x", "×") for text in tensors),
        dotted=lambda path: Markup(".<wbr>").join(path.split(".")),
    )
    template = environment.from_string((Path(__file__).absolute().parent / "page.html.jinja").read_text())
    most = {
        core: max((layer["instructions"].get(core, 0) for layer in report["layers"]), default=0) or 1
        for core in report["cores"]
    }
    return template.render(
        r=report,
        most=most,
        totals={
            core: sum(layer["instructions"].get(core, 0) for layer in report["layers"]) for core in report["cores"]
        },
        worst=worst_first(report["layers"]),
        unmeasured=[layer for layer in report["layers"] if layer["value"] is None],
        section_names=SECTIONS,
        memory_picture=Markup(memory_picture(report["memory"])),
        flash_picture=Markup(flash_picture({core: c["flash_groups"] for core, c in report["cores"].items()})),
    )


def short(op: str) -> str:
    """ "conv2d" of "cortex_m::quantized_conv2d_nhwc"; what is no quantized operator keeps its name."""
    name = op.removeprefix("cortex_m::")
    return name.removeprefix("quantized_").removesuffix("_nhwc") if name.startswith("quantized_") else name


def decibels(value: float) -> str:
    return f"{value:.2f} dB" if math.isfinite(value) else "exact" if value > 0 else "no signal"


def worst_first(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that were compared; exact ones last."""
    compared = [
        layer for layer in layers if layer["value"] is not None and (layer["is_exact"] or layer["sqnr_db"] is not None)
    ]
    return sorted(compared, key=lambda layer: (layer["is_exact"], layer["sqnr_db"] or 0.0, layer["index"]))


def terminal(report: dict[str, Any], width: int = _WIDTH) -> str:
    """The same figures as text of at most `width` columns."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, emoji=False)
    console.print(
        f"{report['model']}: {len(report['layers'])} instructions, {report['macs']:,} MACs, for {report['target']}"
    )
    console.print(
        _table(
            "Summary (instructions of a simulated core, not cycles)",
            [("core", "left"), *((name, "right") for name in ("flash", "RAM", "instructions", "load", "SQNR", "fallbacks"))],
            [
                [
                    core, f"{c['flash_bytes']:,}", f"{c['ram_bytes']:,}", f"{c['inference_instructions']:,}",
                    f"{c['load_instructions']:,}", decibels(report["sqnr_db"]), str(len(report["refusals"])),
                ]
                for core, c in report["cores"].items()
            ],
        )
    )  # fmt: skip
    memory = report["memory"]
    console.print(
        f"Memory: {memory['peak']:,} bytes planned, {memory['lower_bound']:,} live at instruction {memory['peak_instruction']}\n"
    )
    groups = list(dict.fromkeys(group for c in report["cores"].values() for group in c["flash_groups"]))
    console.print(
        _table(
            "Flash by use (bytes)",
            [("", "left"), *((core, "right") for core in report["cores"])],
            [[group, *(f"{c['flash_groups'].get(group, 0):,}" for c in report["cores"].values())] for group in groups],
        )
    )
    console.print(_layers(report))
    if report["refusals"]:
        rows = [[r["node"], r["op"], r["reason"], f"{r['module'] or '-'}, {r['source']}"] for r in report["refusals"]]
        console.print(
            _table(
                "What fell back, and why", [(name, "left") for name in ("node", "operator", "reason", "where")], rows
            )
        )
    else:
        console.print("Every operator became an int8 one.\n")
    samples = f" and {report['samples'] - 1} calibration samples" if report["samples"] > 1 else ""
    console.print(
        _table(
            f"Accuracy, float against int8, on the example inputs{samples}: the ten worst",
            [("SQNR (dB)", "right"), ("#", "right"), ("operator", "left"), ("layer", "left"), ("source", "left")],
            [
                [
                    "exact" if row["is_exact"] else f"{row['sqnr_db']:.2f}",
                    str(row["index"]),
                    short(row["op"]),
                    row["module"] or row["value"],
                    row["source"],
                ]
                for row in worst_first(report["layers"])[:10]
            ],
        )
    )
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _layers(report: dict[str, Any]) -> Table:
    headings = [
        ("#", "right"),
        ("operator", "left"),
        ("layer", "left"),
        ("out", "left"),
        ("MACs", "right"),
        ("weights", "right"),
    ]
    rows = []
    for layer in report["layers"]:
        accuracy = "exact" if layer["is_exact"] else "" if layer["sqnr_db"] is None else f"{layer['sqnr_db']:.1f}"
        rows.append(
            [
                str(layer["index"]), short(layer["op"]), layer["module"] or layer["value"] or "", ", ".join(layer["outputs"]),
                "?" if layer["macs"] is None else f"{layer['macs']:,}" if layer["macs"] else "",
                f"{layer['constant_bytes']:,}" if layer["constant_bytes"] else "",
                *(f"{layer['instructions'][core]:,}" if core in layer["instructions"] else "not run" for core in report["cores"]),
                accuracy,
            ]
        )  # fmt: skip
    return _table("Layers", [*headings, *((core, "right") for core in report["cores"]), ("dB", "right")], rows)


def _table(title: str, headings: list[tuple[str, str]], rows: list[list[str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="", header_style="", box=box.SIMPLE_HEAD)
    for heading, justify in headings:
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table
