"""The reports as files, and as a browser shows them: headless Chromium, without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cortex_m.report.page import html, terminal, worst_first

REPORTS = {
    "net": Path("cortex_m/report/testing/net_report"),
    "mobilenet": Path("examples/mobilenet_report"),
}
_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]  # fmt: skip
# What a page can fetch from elsewhere. Names of XML's namespaces are no addresses.
_OUTSIDE = re.compile(
    r"""(?:src|href)\s*=\s*["']?[^"'#\s]|url\((?!\#)|@import|<script|<link|<iframe|<img""", re.IGNORECASE
)
# Says in the page's title how wide its contents are.
_MEASURE = "<script>addEventListener('load', () => { document.title = 'wide ' + document.documentElement.scrollWidth; });</script>"


@pytest.fixture(params=list(REPORTS))
def name(request) -> str:
    return request.param


@pytest.fixture
def page(name) -> str:
    return REPORTS[name].with_suffix(".html").read_text()


@pytest.fixture
def report(name) -> dict:
    return json.loads(REPORTS[name].with_suffix(".json").read_text())


def chromium(page: str, folder: Path, *flags: str) -> str:
    """Shows the page, 1280 pixels wide, and returns what Chromium prints."""
    assert shutil.which("chromium"), "chromium is not on PATH: bazelw installs it"
    path = folder / "page.html"
    path.write_text(page)
    command = [
        "chromium",
        *_FLAGS,
        f"--user-data-dir={folder}/profile",
        "--window-size=1280,1600",
        *flags,
        path.as_uri(),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    return done.stdout


def test_browser_has_a_row_for_each_layer_and_nothing_is_wider_than_the_window(page, report, tmp_path):
    measured = re.sub(r"<meta http-equiv=[^>]*>", _MEASURE, page, count=1)
    dom = chromium(measured, tmp_path, "--dump-dom")
    assert len(re.findall(r'<tr class="layer"', dom)) == len(report["layers"])
    assert len(re.findall(r'<tr class="accuracy"', dom)) == len(worst_first(report["layers"]))
    assert len(re.findall(r"<svg ", dom)) == 2
    wide = re.search(r"<title>wide (\d+)</title>", dom)
    assert wide and int(wide[1]) <= 1280, dom[:600]


def test_screenshot_has_pictures_in_their_colours(page, tmp_path):
    """An empty or broken page has neither ink nor the colours of the figures."""
    chromium(page, tmp_path, f"--screenshot={tmp_path}/page.png")
    pixels = np.asarray(Image.open(tmp_path / "page.png").convert("RGB")).reshape(-1, 3)
    assert 0.02 < float((pixels.min(1) < 128).mean()) < 0.6
    for colour in ((0x56, 0xB4, 0xE9), (0x00, 0x9E, 0x73), (0xE6, 0x9F, 0x00)):  # activations, the input, kernels
        assert int((pixels == colour).all(1).sum()) > 500, colour


def test_page_asks_nothing_of_a_network(page):
    assert "default-src 'none'" in page
    assert not _OUTSIDE.search(page), _OUTSIDE.search(page)
    assert set(re.findall(r"https?://[^/\"' ]+", page)) <= {"http://www.w3.org"}


def test_pages_of_one_report_are_the_same_bytes(page, report):
    assert html(report) == page
    text = terminal(report)
    assert text == terminal(report)
    assert max(map(len, text.splitlines())) <= 160


def test_terminal_and_page_have_the_figures_of_the_json(name, page, report):
    text = REPORTS[name].with_suffix(".txt").read_text()
    for core, figures in report["cores"].items():
        for key in ("flash_bytes", "ram_bytes", "inference_instructions"):
            assert f"{figures[key]:,}" in text and f"{figures[key]:,}" in page, (core, key)
    for layer in report["layers"]:
        for count in layer["instructions"].values():
            assert f"{count:,}" in text and f"{count:,}" in page


def test_figures_agree_with_each_other(report):
    for core, figures in report["cores"].items():
        assert (
            sum(figures["flash_sections"].values()) == sum(figures["flash_groups"].values()) == figures["flash_bytes"]
        )
        assert sum(figures["ram"].values()) == figures["ram_bytes"]
        assert figures["ram"]["arena"] == report["memory"]["peak"] >= report["memory"]["lower_bound"]
        of_layers = sum(layer["instructions"][core] for layer in report["layers"])
        # The executor's own part, which reads each call from the program.
        assert 0 < figures["inference_instructions"] - of_layers < 1500 * len(report["layers"])
    assert sum(layer["macs"] or 0 for layer in report["layers"]) == report["macs"]


def test_what_stayed_float_is_named_with_its_line():
    report = json.loads(REPORTS["net"].with_suffix(".json").read_text())
    page, text = (REPORTS["net"].with_suffix(suffix).read_text() for suffix in (".html", ".txt"))
    (refusal,) = report["refusals"]
    assert refusal["op"].startswith("aten.cumsum") and refusal["source"].startswith("net.py:17")
    row = page[page.index('<tr class="refusal">') :].split("</tr>")[0]
    assert refusal["node"] in row and "net.py:17" in row and refusal["reason"] in row
    assert refusal["node"] in text and "net.py:17" in text
    assert [layer["op"] for layer in report["layers"] if layer["is_portable"]] == ["aten::cumsum"]


def test_kernels_are_those_of_each_core():
    report = json.loads(REPORTS["net"].with_suffix(".json").read_text())
    kernel = {layer["op"]: layer["kernel"] for layer in report["layers"]}
    assert kernel["cortex_m::quantized_depthwise_conv2d_nhwc"] == {"cortex_m55": "patches", "cortex_m4": "fours"}


def test_hostile_names_are_text():
    report = json.loads(REPORTS["net"].with_suffix(".json").read_text())
    report["layers"][1]["module"] = "<img src=x>"
    assert "&lt;img src=x&gt;" in html(report) and "<img" not in html(report)
