// var and var_mean of float32: the mean first, then the compensated sum of squared distances from it.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

class SquaredDistances : public KahanSum {
 public:
  explicit SquaredDistances(float from) : from_(from) {}
  void Add(float x) { KahanSum::Add((x - from_) * (x - from_)); }

 private:
  float from_;
};

Status Variance(const Tensor& self, const IntList* dim, double correction, bool keepdim, Tensor& out,
                Tensor* mean_out) {
  if (!IsFloat(self.dtype) || !IsFloat(out.dtype)) return Refuse("a variance is of float32, and float32");
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(dim, self.rank, true, reduced));
  if (mean_out != nullptr) {
    if (!IsFloat(mean_out->dtype)) return Refuse("a mean is float32");
    Reduction check;
    CORTEX_M_RETURN_IF_ERROR(check.Init(self, reduced, keepdim, *mean_out));
    if (!SameLayout(out, *mean_out)) return Refuse("the out tensors differ in layout");
  }
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, out));
  const float count = static_cast<float>(reduction.count());
  const double degrees = static_cast<double>(reduction.count()) - correction;
  const float divisor = static_cast<float>(degrees > 0 ? degrees : 0);
  reduction.ForEach([&](ptrdiff_t to, ptrdiff_t first) {
    KahanSum sum;
    reduction.Feed(first, self.dtype, sum);
    const float mean = sum.Result() / count;
    SquaredDistances distances(mean);
    reduction.Feed(first, self.dtype, distances);
    out.mutable_as<float>()[to] = distances.Result() / divisor;
    if (mean_out != nullptr) mean_out->mutable_as<float>()[to] = mean;
  });
  return Status();
}

double CorrectionOf(const std::optional<Scalar>& correction) {
  return correction.has_value() ? correction->ToDouble() : 1;
}

}  // namespace

Status aten::var_out(KernelContext&, const Tensor& self, const IntList* dim, bool unbiased, bool keepdim, Tensor& out) {
  return Variance(self, dim, unbiased ? 1 : 0, keepdim, out, nullptr);
}
Status aten::var_correction_out(KernelContext&, const Tensor& self, const IntList* dim,
                                std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  return Variance(self, dim, CorrectionOf(correction), keepdim, out, nullptr);
}
Status aten::var_mean_correction_out(KernelContext&, const Tensor& self, const IntList* dim,
                                     std::optional<Scalar> correction, bool keepdim, Tensor& out0, Tensor& out1) {
  return Variance(self, dim, CorrectionOf(correction), keepdim, out0, &out1);
}

}  // namespace cortex_m
