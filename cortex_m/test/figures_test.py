"""Baselines and the tables of what grew."""

import json
import re

import pytest

from cortex_m.test import figures
from cortex_m.test.figures import BaselineError, Figures

THEN = Figures(
    compiler="GCC 12",
    flash={"code": 1000, "constants": 200, "model": 5000, "data": 4},
    symbols={"main": 300, "convolve": 700, "gone": 40},
    ram={"arena": 4096, "method state": 500},
    load=900,
    inference=10_000,
    layers={
        "0 cortex_m::quantize_per_tensor": 400,
        "1 cortex_m::quantized_conv2d a": 6000,
        "2 cortex_m::quantized_linear b": 3000,
    },
)
NOW = Figures(
    compiler="GCC 12",
    flash={"code": 1100, "constants": 200, "model": 5000, "data": 4},
    symbols={"main": 300, "convolve": 790, "added": 50},
    ram={"arena": 4096, "method state": 480},
    load=900,
    inference=12_345,
    layers={
        "0 cortex_m::quantize_per_tensor": 400,
        "1 cortex_m::pad": 1500,
        "2 cortex_m::quantized_conv2d a": 6600,
        "3 cortex_m::quantized_linear b": 3000,
    },
)


def rows(table: str) -> dict[str, list[str]]:
    """The cells of a table by their first; columns are two spaces or more apart."""
    return {cells[0]: cells[1:] for cells in (re.split(r"\s{2,}", line.strip()) for line in table.splitlines() if line)}


def test_layers_are_matched_by_what_they_are_not_by_their_index():
    table = rows(figures.layer_table(NOW, THEN))
    assert table["0 cortex_m::quantize_per_tensor"] == ["400", "400"]
    assert table["1 cortex_m::pad"] == ["-", "1,500", "+1,500", "new"]
    assert table["2 cortex_m::quantized_conv2d a"] == ["6,000", "6,600", "+600", "+10.0 %"]
    assert table["3 cortex_m::quantized_linear b"] == ["3,000", "3,000"]
    assert table["between the layers"] == ["600", "845", "+245", "+40.8 %"]
    assert table["total"] == ["10,000", "12,345", "+2,345", "+23.4 %"]


def test_a_layer_that_is_gone_stays_in_the_table():
    table = rows(figures.layer_table(THEN, NOW))
    assert table["cortex_m::pad"] == ["1,500", "-", "-1,500", "-100.0 %"]
    assert table["total"] == ["12,345", "10,000", "-2,345", "-19.0 %"]


def test_flash_by_section_and_only_the_symbols_that_changed():
    table = rows(figures.flash_table(NOW, THEN))
    assert table["code"] == ["1,000", "1,100", "+100", "+10.0 %"]
    assert table["model"] == ["5,000", "5,000"]
    assert table["total"] == ["6,204", "6,304", "+100", "+1.6 %"]
    assert table["convolve"] == ["700", "790", "+90", "+12.9 %"]
    assert table["added"] == ["-", "50", "+50", "new"]
    assert table["gone"] == ["40", "-", "-40", "-100.0 %"]
    assert "main" not in table


def test_ram_by_use():
    table = rows(figures.ram_table(NOW, THEN))
    assert table["method state"] == ["500", "480", "-20", "-4.0 %"]
    assert table["total"] == ["4,596", "4,576", "-20", "-0.4 %"]


def test_without_a_baseline_the_tables_say_what_there_is():
    assert rows(figures.ram_table(NOW, None))["arena"] == ["4,096", "89.5 %"]
    assert rows(figures.layer_table(NOW, None))["2 cortex_m::quantized_conv2d a"] == ["6,600", "53.5 %"]
    flash = rows(figures.flash_table(NOW, None))
    assert flash["total"] == ["6,304", "100.0 %"]
    assert flash["convolve"] == ["790", "12.5 %"]  # of all flash


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "baseline.json"
    figures.write(path, "cortex_m4", THEN, cores=["cortex_m4", "cortex_m55"])
    figures.write(path, "cortex_m55", NOW, cores=["cortex_m4", "cortex_m55"])
    assert figures.read(path, "cortex_m4") == THEN
    assert figures.read(path, "cortex_m55") == NOW
    once = path.read_bytes()
    figures.write(path, "cortex_m4", THEN, cores=["cortex_m4", "cortex_m55"])
    assert path.read_bytes() == once
    figures.write(path, "cortex_m4", THEN, cores=["cortex_m4"])  # the other core is not tested any more
    with pytest.raises(BaselineError, match="nothing of cortex_m55, only of cortex_m4"):
        figures.read(path, "cortex_m55")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "there is no baseline .* yet"),
        ("{", "is no baseline"),
        ("[]", "is no baseline"),
        ("{}", "is no baseline"),
        (json.dumps({"cores": {"cortex_m4": {"flash": {}}}}), "is not what this version records"),
        (json.dumps({"cores": {}}), "nothing of cortex_m4, only of no core"),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path, text, sentence):
    path = tmp_path / "baseline.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BaselineError, match=sentence):
        figures.read(path, "cortex_m4")
