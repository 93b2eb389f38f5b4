// cumsum: running sums along a dimension, of float32 in float64 (as PyTorch), of integers in int64.

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/lines.h"
#include "cortex_m/portable/math.h"

namespace cortex_m {

using namespace portable;

Status aten::cumsum_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  if (dtype.has_value() && *dtype != out.dtype) return Refuse("the out tensor has another element type than dtype");
  if (out.dtype == ScalarType::kBool) return Refuse("there are no running sums of bools");
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  const int32_t size = LineSize(self, dim);
  const ptrdiff_t in_stride = LineStride(self, dim);
  const ptrdiff_t out_stride = LineStride(out, dim);
  ForEachLine<2>({&out, &self}, dim, [&](const ptrdiff_t* offsets) {
    double sum = 0;
    uint64_t int_sum = 0;
    for (int32_t i = 0; i < size; ++i) {
      const ptrdiff_t from = offsets[1] + i * in_stride;
      const ptrdiff_t to = offsets[0] + i * out_stride;
      if (IsFloat(out.dtype)) {
        sum += LoadFloat(self, from);
        const float value = static_cast<float>(sum);
        Store(&value, 1, out.dtype, out.data, to, 1);
      } else {
        int_sum += static_cast<uint64_t>(LoadInt(self, from));
        const int64_t value = static_cast<int64_t>(int_sum);
        Store(&value, 1, out.dtype, out.data, to, 1);
      }
    }
  });
  return Status();
}

}  // namespace cortex_m
