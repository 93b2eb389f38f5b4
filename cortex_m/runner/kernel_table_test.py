"""The kernel table's text, and what is refused."""

import os
import subprocess
import sys

import pytest

from cortex_m.runner import kernel_table


def run(*flags: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    command = [sys.executable, "cortex_m/runner/kernel_table.py", *flags]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_table_has_the_operators_asked_for_and_no_other():
    text = kernel_table.table(["cortex_m::quantized_add.out", "aten::cat.out", "cortex_m::quantized_add.out"])
    assert text.count("Boxed<") == 2
    assert '{"cortex_m::quantized_add.out", Boxed<ops::quantized_add_out>},' in text
    assert '{"aten::cat.out", Boxed<' in text and "cortex_m/portable/declarations.h" in text


def test_int8_operators_alone_need_no_portable_ones():
    assert "portable" not in kernel_table.table(["cortex_m::pad.out"])
    assert "Boxed<" not in kernel_table.table([])


def test_a_run_writes_names_and_table(tmp_path):
    available, source = tmp_path / "available.txt", tmp_path / "kernels.cc"
    assert run(f"--available={available}", "--portable=arithmetic,copy").returncode == 0
    names = available.read_text().split()
    assert {"cortex_m::quantized_conv2d_nhwc.out", "aten::add.out", "dim_order_ops::_clone_dim_order.out"} <= set(names)
    assert "aten::cat.out" not in names
    assert run(f"--available={tmp_path}/own.txt").returncode == 0
    assert (tmp_path / "own.txt").read_text().split() == [name for name in names if name.startswith("cortex_m::")]
    assert run(f"--operators={available}", f"--table={source}").returncode == 0
    assert all(f'{{"{name}", ' in source.read_text() for name in names)


@pytest.mark.parametrize("missing", ["cortex_m::nothing.out", "aten::nothing.out", "cortex_m::quantized_add"])
def test_an_unknown_operator_is_one_sentence_and_a_failure(tmp_path, missing):
    names, source = tmp_path / "names.txt", tmp_path / "kernels.cc"
    names.write_text(f"cortex_m::pad.out\n{missing}\n")
    result = run(f"--operators={names}", f"--table={source}")
    assert result.returncode == 1
    assert result.stderr == f"kernel_table: there is no kernel for {missing}\n"
    assert not source.exists()


def test_an_unknown_file_of_kernels_is_one_sentence_and_a_failure(tmp_path):
    result = run(f"--available={tmp_path}/x.txt", "--portable=cat,nothing")
    assert (result.returncode, result.stderr) == (1, "kernel_table: cortex_m/portable has no file of kernels nothing\n")
