// Matrix products: mm, bmm, mv, dot, addmm, linear; of float32, or of integers of one type.

#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/dot.h"

namespace cortex_m {
namespace {

using namespace portable;

Status CheckTypes(const Tensor& a, const Tensor& b, const Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&a, &b, &out}));
  if (a.dtype == ScalarType::kBool) return Refuse("bools have no matrix product");
  if (a.dtype != b.dtype || a.dtype != out.dtype) return Refuse("factors and product must have one element type");
  return Status();
}

// A matrix inside a tensor.
struct Matrix {
  const Tensor* tensor;
  ptrdiff_t offset;
  int32_t rows, columns;
  int32_t row_stride, column_stride;
  ptrdiff_t At(int32_t row, int32_t column) const {
    return offset + static_cast<ptrdiff_t>(row) * row_stride + static_cast<ptrdiff_t>(column) * column_stride;
  }
};

// The last two dimensions, at `offset`; a vector is a column (or, if `row`, a row).
Matrix MatrixOf(const Tensor& tensor, ptrdiff_t offset = 0, bool row = false) {
  int32_t strides[kMaxRank];
  StridesOf(tensor, strides);
  if (tensor.rank == 1) {
    if (row) return {&tensor, offset, 1, tensor.sizes[0], 0, strides[0]};
    return {&tensor, offset, tensor.sizes[0], 1, strides[0], 0};
  }
  const int r = tensor.rank - 2, c = tensor.rank - 1;
  return {&tensor, offset, tensor.sizes[r], tensor.sizes[c], strides[r], strides[c]};
}

Matrix Transposed(const Matrix& m) { return {m.tensor, m.offset, m.columns, m.rows, m.column_stride, m.row_stride}; }

// out = scale * a b + added, where `added` (null for none) is seen through strides of 0 where it is broadcast. Sizes
// agree.
template <typename Lane>
void Multiply(const Matrix& a, const Matrix& b, const Matrix* added, Lane scale, Lane added_scale, const Matrix& out) {
  for (int32_t row = 0; row < out.rows; ++row) {
    for (int32_t column = 0; column < out.columns; ++column) {
      Lane sum =
          Dot({a.tensor, a.At(row, 0), a.column_stride}, {b.tensor, b.At(0, column), b.row_stride}, a.columns, Lane{0});
      if constexpr (kLaneType<Lane> == ScalarType::kFloat) {
        if (scale != 1) sum *= scale;
      } else {
        sum = static_cast<Lane>(static_cast<uint64_t>(sum) * static_cast<uint64_t>(scale));
      }
      if (added != nullptr) {
        Lane extra;
        Load(added->tensor->dtype, added->tensor->data, added->At(row, column), 1, 1, &extra);
        if constexpr (kLaneType<Lane> == ScalarType::kFloat) {
          sum += added_scale != 1 ? added_scale * extra : extra;
        } else {
          sum = static_cast<Lane>(static_cast<uint64_t>(sum) +
                                  static_cast<uint64_t>(added_scale) * static_cast<uint64_t>(extra));
        }
      }
      Store(&sum, 1, out.tensor->dtype, out.tensor->data, out.At(row, column), 1);
    }
  }
}

Status Product(const Matrix& a, const Matrix& b, const Matrix* added, const Scalar& scale, const Scalar& added_scale,
               const Matrix& out) {
  if (a.columns != b.rows) return Refuse("the factors' sizes do not agree");
  if (out.rows != a.rows || out.columns != b.columns) return Refuse(kWrongOutSizes);
  if (IsFloat(out.tensor->dtype)) {
    Multiply<float>(a, b, added, ScalarAs<float>(scale), ScalarAs<float>(added_scale), out);
  } else {
    if (scale.tag == Tag::kDouble || added_scale.tag == Tag::kDouble) {
      return Refuse("alpha and beta of integer tensors must be integers");
    }
    Multiply<int64_t>(a, b, added, ScalarAs<int64_t>(scale), ScalarAs<int64_t>(added_scale), out);
  }
  return Status();
}

Status Product(const Matrix& a, const Matrix& b, const Matrix& out) {
  return Product(a, b, nullptr, IntScalar(1), IntScalar(1), out);
}

}  // namespace

Status aten::mm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(self, mat2, out));
  if (self.rank != 2 || mat2.rank != 2 || out.rank != 2) return Refuse("mm takes matrices");
  return Product(MatrixOf(self), MatrixOf(mat2), MatrixOf(out));
}

Status aten::bmm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(self, mat2, out));
  if (self.rank != 3 || mat2.rank != 3 || out.rank != 3) return Refuse("bmm takes tensors of three dimensions");
  if (self.sizes[0] != mat2.sizes[0] || self.sizes[0] != out.sizes[0]) return Refuse("the batches differ");
  int32_t strides[3][3];
  StridesOf(self, strides[0]);
  StridesOf(mat2, strides[1]);
  StridesOf(out, strides[2]);
  for (int32_t i = 0; i < self.sizes[0]; ++i) {
    const auto matrix = [&](const Tensor& tensor, int k) {
      return MatrixOf(tensor, static_cast<ptrdiff_t>(i) * strides[k][0]);
    };
    CORTEX_M_RETURN_IF_ERROR(Product(matrix(self, 0), matrix(mat2, 1), matrix(out, 2)));
  }
  return Status();
}

Status aten::mv_out(KernelContext&, const Tensor& self, const Tensor& vec, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(self, vec, out));
  if (self.rank != 2 || vec.rank != 1 || out.rank != 1) return Refuse("mv takes a matrix and a vector");
  return Product(MatrixOf(self), MatrixOf(vec), MatrixOf(out));
}

Status aten::dot_out(KernelContext&, const Tensor& self, const Tensor& tensor, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(self, tensor, out));
  if (self.rank != 1 || tensor.rank != 1) return Refuse("dot takes vectors");
  if (out.rank != 0) return Refuse(kWrongOutSizes);
  return Product(MatrixOf(self, 0, true), MatrixOf(tensor), Matrix{&out, 0, 1, 1, 0, 0});
}

// out = beta * self + alpha * mat1 mat2. With beta 0 self counts for nothing, not even its NaNs.
Status aten::addmm_out(KernelContext&, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                       Scalar alpha, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(mat1, mat2, out));
  CORTEX_M_RETURN_IF_ERROR(Check(self));
  if (self.dtype != out.dtype) return Refuse("self has another element type than the product");
  if (mat1.rank != 2 || mat2.rank != 2 || out.rank != 2) return Refuse("addmm takes matrices");
  int32_t strides[2];
  if (!BroadcastStrides(self, out.sizes, 2, strides)) {
    return Refuse("self cannot be broadcast to the sizes of the product");
  }
  const Matrix added{&self, 0, out.sizes[0], out.sizes[1], strides[0], strides[1]};
  return Product(MatrixOf(mat1), MatrixOf(mat2), beta.ToDouble() == 0 ? nullptr : &added, alpha, beta, MatrixOf(out));
}

// out[..., n] = sum over k of input[..., k] weight[n, k], plus bias[n].
Status aten::linear_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor* bias, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckTypes(input, weight, out));
  if (input.rank < 1 || weight.rank != 2 || out.rank != input.rank) {
    return Refuse("linear takes an input of [..., K] and a weight of [N, K]");
  }
  const int last = input.rank - 1;
  if (out.sizes[last] != weight.sizes[0]) return Refuse(kWrongOutSizes);
  for (int i = 0; i < last; ++i) {
    if (out.sizes[i] != input.sizes[i]) return Refuse(kWrongOutSizes);
  }
  Matrix added{bias, 0, 1, weight.sizes[0], 0, 1};
  if (bias != nullptr) {
    CORTEX_M_RETURN_IF_ERROR(Check(*bias));
    if (bias->dtype != out.dtype) return Refuse("the bias has another element type than the product");
    if (bias->rank != 1 || bias->sizes[0] != weight.sizes[0]) return Refuse("the bias must be [N]");
  }
  int32_t in_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(input, in_strides);
  StridesOf(out, out_strides);
  Loops rows(2);
  for (int i = 0; i < last; ++i) rows.Add(input.sizes[i], {out_strides[i], in_strides[i]});
  const Matrix columns = Transposed(MatrixOf(weight));
  for (Walk walk(rows); !walk.done(); walk.Next()) {
    const int32_t count = rows.inner_size();
    const Matrix a{&input, walk.offset(1), count, input.sizes[last], rows.inner_stride(1), in_strides[last]};
    const Matrix product{&out, walk.offset(0), count, out.sizes[last], rows.inner_stride(0), out_strides[last]};
    CORTEX_M_RETURN_IF_ERROR(
        Product(a, columns, bias == nullptr ? nullptr : &added, IntScalar(1), IntScalar(1), product));
  }
  return Status();
}

}  // namespace cortex_m
