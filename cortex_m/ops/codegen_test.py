"""Tests of codegen.py: the text it writes, and what it refuses."""

import pathlib
import subprocess
import sys

import pytest

from cortex_m.ops import codegen

HERE = pathlib.Path(__file__).parent
YAML = HERE / "operators.yaml"


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, HERE / "codegen.py", *arguments], capture_output=True, text=True, check=False)


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


def test_registration_has_the_operators_asked_for_and_no_other(tmp_path):
    schemas = schemas_of(tmp_path, "f(Tensor a) -> Tensor", "g(Tensor a) -> Tensor", "h(Tensor a) -> Tensor")
    text = codegen.registration(schemas, ["cortex_m::h.out", "cortex_m::f.out", "cortex_m::h.out"])
    assert text.count("Boxed<") == 2
    assert '{"cortex_m::f.out", Boxed<ops::f_out>},' in text
    assert '{"cortex_m::h.out", Boxed<ops::h_out>},' in text
    assert "Boxed<" not in codegen.registration(schemas, [])


def test_a_run_writes_declarations_and_names_of_all_operators(tmp_path):
    header, available = tmp_path / "operators.h", tmp_path / "available.txt"
    result = run(f"--operators_yaml={YAML}", f"--declarations={header}", f"--available={available}")
    assert result.returncode == 0, result.stderr
    names = available.read_text().split()
    assert len(names) == YAML.read_text().count("- func: ")
    for name in names:
        assert f"Status {name.removeprefix('cortex_m::').removesuffix('.out')}_out(KernelContext&" in header.read_text()


@pytest.mark.parametrize("missing", ["cortex_m::nothing.out", "aten::add.out", "cortex_m::quantized_add"])
def test_an_unknown_operator_is_one_sentence_and_a_failure(tmp_path, missing):
    output, ops = tmp_path / "kernels.cc", tmp_path / "ops.txt"
    ops.write_text(f"cortex_m::pad.out\n{missing}\n")
    result = run(f"--operators_yaml={YAML}", f"--registration={output}", f"--ops_file={ops}")
    assert result.returncode == 1
    assert result.stderr == f"codegen: There is no kernel for {missing}.\n"
    assert not output.exists()
