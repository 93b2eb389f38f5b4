// upsample_nearest2d: each output pixel is the input pixel at floor(position / scale), of any element type.
//
// As PyTorch, the position is computed in float32 from 1 / scale_factor where that is given, else from the ratio of the
// sizes.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/resize.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {

using namespace portable;

Status aten::upsample_nearest2d_vec_out(KernelContext&, const Tensor& input, const IntList* output_size,
                                        std::optional<Span<const double>> scale_factors, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(input, out));
  float steps[2];
  CORTEX_M_RETURN_IF_ERROR(CheckResize(input, output_size, scale_factors, out));
  for (int i = 0; i < 2; ++i) steps[i] = ResizeStep(input, scale_factors, out, i);
  int32_t in_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(input, in_strides);
  StridesOf(out, out_strides);
  Loops planes(2);
  for (int dim = 0; dim < 2; ++dim) planes.Add(out.sizes[dim], {out_strides[dim], in_strides[dim]});
  if (planes.empty()) return Status();
  const auto nearest = [](int32_t position, float step, int32_t size) {
    const int32_t at = static_cast<int32_t>(static_cast<float>(position) * step);
    return at < size - 1 ? at : size - 1;
  };
  const size_t element_size = ElementSize(input.dtype);
  for (int32_t y = 0; y < out.sizes[2]; ++y) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(nearest(y, steps[0], input.sizes[2])) * in_strides[2];
    for (int32_t x = 0; x < out.sizes[3]; ++x) {
      const ptrdiff_t from = row + static_cast<ptrdiff_t>(nearest(x, steps[1], input.sizes[3])) * in_strides[3];
      const ptrdiff_t to = static_cast<ptrdiff_t>(y) * out_strides[2] + static_cast<ptrdiff_t>(x) * out_strides[3];
      CopyStrided(planes, At(out.data, to, element_size), At(input.data, from, element_size), element_size);
    }
  }
  return Status();
}

}  // namespace cortex_m
