// glu of float32: the first half along a dimension, times the logistic function of the second half.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/lines.h"
#include "cortex_m/portable/math.h"

namespace cortex_m {

using namespace portable;

Status aten::glu_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  if (!IsFloat(self.dtype) || !IsFloat(out.dtype)) return Refuse("glu is defined for float32 only");
  if (self.rank == 0 || !NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  if (self.sizes[dim] % 2 != 0) return Refuse("the dimension cannot be halved");
  const int32_t half = self.sizes[dim] / 2;
  if (out.rank != self.rank) return Refuse(kWrongOutSizes);
  for (int i = 0; i < self.rank; ++i) {
    if (out.sizes[i] != (i == dim ? half : self.sizes[i])) return Refuse(kWrongOutSizes);
  }
  const ptrdiff_t in_stride = LineStride(self, dim);
  const ptrdiff_t out_stride = LineStride(out, dim);
  ForEachLine<2>({&out, &self}, dim, [&](const ptrdiff_t* offsets) {
    const float* from = self.as<float>() + offsets[1];
    float* to = out.mutable_as<float>() + offsets[0];
    for (int32_t i = 0; i < half; ++i) {
      const double gate = Sigmoid(static_cast<double>(from[(i + half) * in_stride]));
      to[i * out_stride] = static_cast<float>(from[i * in_stride] * gate);
    }
  });
  return Status();
}

}  // namespace cortex_m
