// _softmax and _log_softmax of float32 along a dimension.
//
// exp(x - max), rounded to float32, is summed with compensation in logical order; then softmax divides by the sum, and
// log_softmax subtracts its logarithm.

#include <limits>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/lines.h"
#include "cortex_m/portable/math.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

Status Softmax(const Tensor& self, int64_t dim, bool half_to_float, bool log, Tensor& out) {
  if (half_to_float) return Refuse("half_to_float is for float16, which is not supported");
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  if (!IsFloat(self.dtype) || !IsFloat(out.dtype)) return Refuse("softmax is defined for float32 only");
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  const int32_t size = LineSize(self, dim);
  const ptrdiff_t in_stride = LineStride(self, dim);
  const ptrdiff_t out_stride = LineStride(out, dim);
  if (size == 0) return Status();
  ForEachLine<2>({&out, &self}, dim, [&](const ptrdiff_t* offsets) {
    float* to = out.mutable_as<float>() + offsets[0];
    const float* from = self.as<float>() + offsets[1];
    float largest = -std::numeric_limits<float>::infinity();
    for (int32_t i = 0; i < size; ++i) {
      const float x = from[i * in_stride];
      if (x > largest || x != x) largest = x;
      if (x != x) break;
    }
    KahanSum sum;
    for (int32_t i = 0; i < size; ++i) {
      const float distance = from[i * in_stride] - largest;
      const float power = static_cast<float>(Exp(static_cast<double>(distance)));
      to[i * out_stride] = log ? distance : power;
      sum.Add(power);
    }
    const float total = sum.Result();
    const float log_total = log ? static_cast<float>(Log(static_cast<double>(total))) : 0;
    for (int32_t i = 0; i < size; ++i) {
      float& element = to[i * out_stride];
      element = log ? element - log_total : element / total;
    }
  });
  return Status();
}

}  // namespace

Status aten::_softmax_out(KernelContext&, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return Softmax(self, dim, half_to_float, false, out);
}
Status aten::_log_softmax_out(KernelContext&, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return Softmax(self, dim, half_to_float, true, out);
}

}  // namespace cortex_m
