"""The pictures of the report, as SVG without anything that differs from run to run."""

from __future__ import annotations

import io
import re
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

# Okabe and Ito's palette, which people of all kinds of colour vision tell apart.
COLOURS = {
    "input": "#009E73",
    "output": "#D55E00",
    "activation": "#56B4E9",
    "view": "#B3DDF2",
    "scratch": "#E69F00",
    "state": "#CC79A7",
}
GROUP_COLOURS = {
    "program (.pte)": "#56B4E9",
    "kernels": "#E69F00",
    "operators": "#009E73",
    "runtime": "#0072B2",
    "runner": "#CC79A7",
    "start-up and console": "#D55E00",
    "C library": "#999999",
    "texts": "#F0E442",
    "other": "#DDDDDD",
}
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "path.simplify": False,
}


def _svg(figure: Any, name: str) -> str:
    """name: of the picture; makes its identifiers its own, for several stand in one page."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for prefix in (
        "figure_",
        "axes_",
        "patch_",
        "line2d_",
        "text_",
        "xtick_",
        "ytick_",
        "legend_",
        "matplotlib.axis_",
        "LineCollection_",
    ):
        svg = svg.replace(f'id="{prefix}', f'id="{name}-{prefix}')
    return svg


def thousands(value: float, _: Any = None) -> str:
    return f"{value:,.0f}"


def memory_picture(memory: dict[str, Any]) -> str:
    """Each buffer as a rectangle: the instructions it lives through by the bytes it lies in; below, what is live.

    memory: MemoryPlan.to_json(). Memories after the first are drawn above it.
    """
    buffers = [buffer for buffer in memory["buffers"] if buffer["bytes"]]
    count = max(len(memory["live_bytes"]), 1)
    base: dict[int, int] = {}
    top = 0
    for memory_id in sorted({buffer["memory_id"] for buffer in buffers}):
        base[memory_id] = top
        top += max(b["offset"] + b["bytes"] for b in buffers if b["memory_id"] == memory_id)
    with pyplot.rc_context(_STYLE):
        figure, (places, live) = pyplot.subplots(
            2, 1, figsize=(11.6, 5.4), sharex=True, gridspec_kw={"height_ratios": [3, 1.2]}, layout="constrained"
        )
        for buffer in sorted(buffers, key=lambda b: b["kind"] != "view"):
            corner = (buffer["first"] - 0.5, base[buffer["memory_id"]] + buffer["offset"])
            colour = COLOURS.get(buffer["kind"], "#999999")
            places.add_patch(
                Rectangle(
                    corner,
                    buffer["last"] - buffer["first"] + 1,
                    buffer["bytes"],
                    facecolor=colour,
                    edgecolor="white",
                    linewidth=0.5,
                )
            )
        peak = memory["peak_instruction"]
        places.axhline(memory["peak"], color="#333333", linewidth=0.9)
        places.axvspan(peak - 0.5, peak + 0.5, color="#333333", alpha=0.12, linewidth=0)
        places.set_ylim(0, max(memory["peak"], 1) * 1.14)
        places.set_xlim(-0.5, count - 0.5)
        label = f"planned: {memory['peak']:,} bytes; largest need at instruction {peak}"
        right = peak < count / 2
        places.annotate(
            label,
            (count - 0.6 if right else -0.4, memory["peak"] * 1.03),
            ha="right" if right else "left",
            va="bottom",
            color="#333333",
        )
        places.set_ylabel("address (bytes)")
        kinds = [kind for kind in COLOURS if any(buffer["kind"] == kind for buffer in buffers)]
        figure.legend(
            handles=[Patch(color=COLOURS[kind], label=kind) for kind in kinds],
            loc="outside upper left",
            ncols=len(kinds),
            frameon=False,
        )
        edges = [position - 0.5 for position in range(count + 1)]
        live.stairs(memory["live_bytes"] or [0], edges, fill=True, color="#56B4E9", alpha=0.6, linewidth=0)
        live.axhline(memory["lower_bound"], color="#D55E00", linewidth=0.9, linestyle="--")
        live.annotate(
            f"lower bound: {memory['lower_bound']:,} bytes", (count - 0.6 if right else -0.4, memory["lower_bound"] * 1.05),
            ha="right" if right else "left", va="bottom", color="#B34700",
        )  # fmt: skip
        live.set_ylim(0, max(memory["lower_bound"], 1) * 1.35)
        live.set_ylabel("live (bytes)")
        live.set_xlabel("instruction")
        live.xaxis.set_major_locator(MaxNLocator(nbins=20, integer=True))
        for axes in (places, live):
            axes.yaxis.set_major_formatter(FuncFormatter(thousands))
        return _svg(figure, "memory")


def flash_picture(groups: dict[str, dict[str, int]]) -> str:
    """Code and constants of each core by group, as one bar a core; the program itself, the same for all, is in the title.

    groups: by core.
    """
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(11.6, 0.75 + 0.5 * len(groups)), layout="constrained")
        for row, sizes in enumerate(groups.values()):
            left = 0
            for group, colour in GROUP_COLOURS.items():
                size = sizes.get(group, 0) if group != "program (.pte)" else 0
                axes.barh(row, size, left=left, color=colour, height=0.62, edgecolor="white", linewidth=0.5)
                left += size
            axes.annotate(f" {left:,}", (left, row), va="center")
        axes.set_yticks(range(len(groups)), list(groups))
        axes.invert_yaxis()
        axes.margins(x=0.09)
        axes.xaxis.set_major_formatter(FuncFormatter(thousands))
        axes.set_xlabel("bytes of flash beside the program")
        shown = [
            group
            for group in GROUP_COLOURS
            if group != "program (.pte)" and any(sizes.get(group) for sizes in groups.values())
        ]
        figure.legend(
            handles=[Patch(color=GROUP_COLOURS[group], label=group) for group in shown], loc="outside upper left",
            ncols=len(shown), frameon=False,
        )  # fmt: skip
        return _svg(figure, "flash")
