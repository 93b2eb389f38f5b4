"""Tests of codegen.py: the text it writes, and what it refuses."""

import pathlib
import subprocess
import sys

import pytest

from cortex_m.ops import codegen

HERE = pathlib.Path(__file__).parent


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, HERE / "codegen.py", *arguments], capture_output=True, text=True, check=False
    )


def schemas_of(tmp_path: pathlib.Path, *lines: str):
    path = tmp_path / "operators.yaml"
    path.write_text("".join(f"- func: {line}\n" for line in lines))
    return codegen.read_schemas(str(path))


def test_every_kind_of_argument(tmp_path):
    schemas = schemas_of(
        tmp_path,
        "f(Tensor a, Tensor? b, int c, float d, bool e, ScalarType g, int[] h, Tensor[] i, int? j, Tensor scratch) -> Tensor",
    )
    assert codegen.declaration("f", schemas["f"]) == (
        "Status f_out(KernelContext& context, const Tensor& a, const Tensor* b, int64_t c, double d, bool e, ScalarType g, "
        "IntList h, Span<const Tensor> i, const int64_t* j, Tensor& scratch, const Tensor& out);"
    )


def test_a_type_without_a_parameter_is_refused(tmp_path):
    schemas = schemas_of(tmp_path, "f(Tensor a, Device b) -> Tensor")
    with pytest.raises(codegen.CodegenError, match="Argument b has the type Device"):
        codegen.declarations(schemas)


def test_two_schemas_of_one_name_are_refused(tmp_path):
    with pytest.raises(codegen.CodegenError, match="two schemas of f"):
        schemas_of(tmp_path, "f(Tensor a) -> Tensor", "f(Tensor b) -> Tensor")


def test_a_run_declares_all_operators(tmp_path):
    header = tmp_path / "operators.h"
    result = run(f"--declarations={header}")
    assert result.returncode == 0, result.stderr
    names = codegen.read_schemas(str(codegen.OPERATORS_YAML))
    assert len(names) == codegen.OPERATORS_YAML.read_text().count("- func: ")
    for name in names:
        assert f"Status {name}_out(KernelContext&" in header.read_text()


def test_a_schema_that_cannot_be_declared_is_one_sentence_and_a_failure(tmp_path):
    path = tmp_path / "operators.yaml"
    path.write_text("- func: f(Device a) -> Tensor\n")
    result = run(f"--operators_yaml={path}", f"--declarations={tmp_path}/operators.h")
    assert result.returncode == 1
    assert result.stderr == "codegen: Argument a has the type Device, for which there is no C++ parameter.\n"
    assert not (tmp_path / "operators.h").exists()
