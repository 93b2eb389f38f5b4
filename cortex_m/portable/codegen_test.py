"""Code and document follow from operators.yaml and torch's schemas."""

import pathlib

import pytest
from torchgen.model import SchemaKind

from cortex_m.portable import codegen, document, schemas

_FOLDER = pathlib.Path(schemas.OPERATORS_YAML).parent


def test_the_document_is_fresh():
    assert pathlib.Path("docs/portable_ops.md").read_text() == document.document(), (
        "run: python -m cortex_m.portable.codegen document docs/portable_ops.md"
    )


def test_every_operator_is_named_once_and_writes_to_what_it_is_given():
    names = schemas.operators()
    assert len(names) == len(set(names))
    for name in names:
        assert schemas.schema(name).kind() in (SchemaKind.out, SchemaKind.inplace), name


def test_a_declaration_follows_the_schema():
    header = codegen.declarations()
    for line in [
        "Status add_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out);",
        "Status clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max, Tensor& out);",
        "Status cat_out(KernelContext& context, Span<const Tensor> tensors, int64_t dim, Tensor& out);",
        "Status index_put_(KernelContext& context, Tensor& self, Span<const Tensor* const> indices, const Tensor& values, bool accumulate);",
        "Status max_dim_max(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& max, Tensor& max_values);",
        "Status split_copy_Tensor_out(KernelContext& context, const Tensor& self, int64_t split_size, int64_t dim, Span<const Tensor> out);",
        "Status _to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool non_blocking, const IntList* dim_order, Tensor& out);",
    ]:
        assert line in header


def test_a_table_has_what_is_asked_for():
    table = codegen.table(["aten::add.out", "aten::max.dim_max"])
    assert '{"aten::add.out", Boxed<aten::add_out>},' in table
    assert '{"aten::max.dim_max", Boxed<aten::max_dim_max>},' in table
    assert "mul" not in table
    with pytest.raises(ValueError, match="no portable kernel for aten::rand.out"):
        codegen.table(["aten::add.out", "aten::rand.out"])


def test_unknown_operators_are_refused():
    with pytest.raises(KeyError, match="aten::no_such_operator.out is no operator"):
        schemas.schema("aten::no_such_operator.out")


def test_core_operators_are_found_by_schema():
    core = document.core_operators()
    assert core["aten::add.Tensor"] == ["aten::add.out"]
    assert core["aten::view"] == ["aten::view_copy.out"]
    assert core["aten::mean.dim"] == ["aten::mean.out"]
    assert core["aten::max.dim"] == ["aten::max.dim_max"]
    assert core["aten::full"] == ["aten::full.out"]
