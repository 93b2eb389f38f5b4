// sum, mean and prod.
//
// Elements are converted to the type of the result first. Float products are multiplied in logical order.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

class FloatProduct {
 public:
  using Lane = float;
  void Add(float x) { product_ *= x; }
  float Result() const { return product_; }

 private:
  float product_ = 1;
};

class IntProduct {
 public:
  using Lane = int64_t;
  void Add(int64_t x) { product_ *= static_cast<uint64_t>(x); }
  int64_t Result() const { return static_cast<int64_t>(product_); }

 private:
  uint64_t product_ = 1;
};

class Mean : public KahanSum {
 public:
  explicit Mean(size_t count) : count_(static_cast<float>(count)) {}
  float Result() const { return KahanSum::Result() / count_; }

 private:
  float count_;
};

Status CheckDtype(const std::optional<ScalarType>& dtype, const Tensor& out) {
  if (dtype.has_value() && *dtype != out.dtype) return Refuse("the out tensor has another element type than dtype");
  return Status();
}

Status Product(const Tensor& self, uint32_t reduced, bool keepdim, const std::optional<ScalarType>& dtype,
               Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckDtype(dtype, out));
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, out));
  if (IsFloat(out.dtype)) {
    reduction.Run(out, FloatProduct());
  } else {
    reduction.Run(out, IntProduct());
  }
  return Status();
}

Status MeanOf(const Tensor& self, const IntList* dim, bool keepdim, const std::optional<ScalarType>& dtype,
              Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckDtype(dtype, out));
  if (!IsFloat(out.dtype)) return Refuse("a mean is float32");
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(dim, self.rank, true, reduced));
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, out));
  reduction.Run(out, Mean(reduction.count()));
  return Status();
}

}  // namespace

Status aten::sum_IntList_out(KernelContext&, const Tensor& self, const IntList* dim, bool keepdim,
                             std::optional<ScalarType> dtype, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckDtype(dtype, out));
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(dim, self.rank, true, reduced));
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, out));
  if (IsFloat(out.dtype)) {
    reduction.Run(out, KahanSum());
  } else {
    reduction.Run(out, IntSum());
  }
  return Status();
}

Status aten::mean_out(KernelContext&, const Tensor& self, const IntList* dim, bool keepdim,
                      std::optional<ScalarType> dtype, Tensor& out) {
  return MeanOf(self, dim, keepdim, dtype, out);
}
Status aten::mean_dtype_out(KernelContext&, const Tensor& self, std::optional<ScalarType> dtype, Tensor& out) {
  return MeanOf(self, nullptr, false, dtype, out);
}

Status aten::prod_int_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim,
                          std::optional<ScalarType> dtype, Tensor& out) {
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  return Product(self, 1u << dim, keepdim, dtype, out);
}
Status aten::prod_out(KernelContext&, const Tensor& self, std::optional<ScalarType> dtype, Tensor& out) {
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(nullptr, self.rank, true, reduced));
  return Product(self, reduced, false, dtype, out);
}

}  // namespace cortex_m
