"""What stands beside a program with int8 inputs and outputs: its report and its test vectors."""

import json
from pathlib import Path

import numpy

FOLDER = Path("cortex_m/test/int8_io")


def tensors(kind: str) -> list[dict]:
    return json.loads((FOLDER / "net.report.json").read_text())[kind]


def test_the_report_names_scale_and_zero_point():
    (taken,), (given,) = tensors("inputs"), tensors("outputs")
    assert (taken["dtype"], taken["shape"]) == ("int8", [1, 3, 12, 12])
    assert (given["dtype"], given["shape"]) == ("int8", [1, 5])
    text = (FOLDER / "net.report.txt").read_text()
    for tensor in (taken, given):
        assert f"scale {tensor['scale']:.9g}, zero point {tensor['zero_point']}" in text


def test_vectors_are_the_integers_of_the_float_outputs():
    index = json.loads((FOLDER / "net.vectors" / "vectors.json").read_text())
    assert index["input"][0]["dtype"] == index["expected"][0]["dtype"] == "torch.int8"
    read = lambda kind, dtype: numpy.fromfile(FOLDER / "net.vectors" / index[kind][0]["file"], dtype)
    assert read("input", numpy.int8).size == 3 * 12 * 12
    (given,) = tensors("outputs")
    real = (read("expected", numpy.int8).astype(float) - given["zero_point"]) * given["scale"]
    difference = numpy.abs(real - read("float", numpy.float32))
    assert difference.max() < 4 * given["scale"], difference
