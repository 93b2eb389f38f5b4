"""Samples from .npy files: the bytes of a program's memory order, and what is refused."""

import json

import numpy as np
import pytest

from cortex_m.test import samples


@pytest.fixture
def program(tmp_path):
    tensor = lambda dtype, sizes, order: {"type": "tensor", "dtype": dtype, "sizes": sizes, "dim_order": order}
    method = {"inputs": [tensor("float", [1, 2, 3, 4], [0, 2, 3, 1])], "outputs": [tensor("int8", [1, 5], [0, 1])]}
    (tmp_path / "info.json").write_text(json.dumps({"methods": [method]}))
    return samples.read_program(tmp_path / "info.json")


def save(folder, name, array):
    np.save(folder / name, array)
    return folder / name


def test_one_sample_and_several(program, tmp_path):
    x = np.arange(48, dtype=np.float32).reshape(2, 1, 2, 3, 4)
    y = np.arange(10, dtype=np.int8).reshape(2, 1, 5)
    one = samples.from_arrays(program, [save(tmp_path, "x0.npy", x[0])], [save(tmp_path, "y0.npy", y[0])], exact=True)
    both = samples.from_arrays(program, [save(tmp_path, "x.npy", x)], [save(tmp_path, "y.npy", y)], exact=True)
    assert one == both[:1] and len(both) == 2
    # The program's input lies channels last.
    assert both[1].inputs == (np.moveaxis(x[1], 1, 3).tobytes(),)
    assert both[1].expected == (y[1].tobytes(),) and both[1].reference is None
    assert np.array_equal(program.inputs[0].from_bytes(both[1].inputs[0]), x[1])


def test_what_accuracy_is_judged_by(program, tmp_path):
    x, y = np.zeros((1, 2, 3, 4), np.float32), np.linspace(0, 1, 5)[np.newaxis]
    (sample,) = samples.from_arrays(program, [save(tmp_path, "x.npy", x)], [save(tmp_path, "y.npy", y)], exact=False)
    assert sample.expected is None
    assert np.array_equal(sample.reference[0], y)


X, Y = np.zeros((1, 2, 3, 4), np.float32), np.zeros((1, 5), np.int8)


@pytest.mark.parametrize(
    ("x", "y", "exact", "sentence"),
    [
        (
            X.reshape(1, 3, 4, 2),
            Y,
            True,
            r"x.npy has shape \[1, 3, 4, 2\], but input 0 of the program is float32 of shape \[1, 2, 3, 4\]",
        ),
        (X[0], Y, True, "x.npy has shape"),
        (np.zeros((0, 1, 2, 3, 4), np.float32), Y, True, "x.npy has shape"),
        (X.astype(np.float64), Y, True, "x.npy holds float64, but input 0 of the program is float32"),
        (X, Y.astype(np.uint8), True, "y.npy holds uint8, but output 0 of the program is int8"),
        (X, Y, False, "y.npy holds int8, but an accuracy is judged by float values"),
        (np.stack([X] * 3), np.stack([Y] * 2), True, "different numbers of samples: .*x.npy has 3, .*y.npy has 2"),
    ],
)
def test_wrong_arrays_are_refused(program, tmp_path, x, y, exact, sentence):
    with pytest.raises(ValueError, match=sentence):
        samples.from_arrays(program, [save(tmp_path, "x.npy", x)], [save(tmp_path, "y.npy", y)], exact)


def test_wrong_files_are_refused(program, tmp_path):
    x, y = save(tmp_path, "x.npy", X), save(tmp_path, "y.npy", Y)
    with pytest.raises(ValueError, match="has 1 inputs, but 2 files"):
        samples.from_arrays(program, [x, x], [y], True)
    with pytest.raises(ValueError, match="has 1 outputs, but 0 files"):
        samples.from_arrays(program, [x], [], True)
    for content in (b"", b"text", b"\x80\x04."):
        (tmp_path / "bad.npy").write_bytes(content)
        with pytest.raises(ValueError, match="bad.npy is no .npy file"):
            samples.from_arrays(program, [tmp_path / "bad.npy"], [y], True)
    np.savez(tmp_path / "several.npz", X)
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    with pytest.raises(ValueError, match="several.npy holds several arrays"):
        samples.from_arrays(program, [tmp_path / "several.npy"], [y], True)


def test_a_number_among_the_inputs_is_refused(tmp_path):
    (tmp_path / "info.json").write_text(json.dumps({"methods": [{"inputs": [{"type": "int"}], "outputs": []}]}))
    with pytest.raises(ValueError, match="no tensor but of type int"):
        samples.read_program(tmp_path / "info.json")
