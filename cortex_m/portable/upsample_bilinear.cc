// upsample_bilinear2d of float32: the four input pixels around each output pixel, weighted by their distance.
//
// Along the width first, then along the height; positions and weights in float32, as PyTorch has them.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/math.h"
#include "cortex_m/portable/resize.h"
#include "cortex_m/portable/window.h"

namespace cortex_m {
namespace {

using namespace portable;

// Two neighbours and their weights.
struct Blend {
  int32_t low, high;
  float low_weight, high_weight;
};

Blend BlendAt(int32_t position, float step, bool align_corners, int32_t size) {
  float at = align_corners ? step * static_cast<float>(position) : step * (static_cast<float>(position) + 0.5f) - 0.5f;
  if (at < 0) at = 0;
  int32_t low = static_cast<int32_t>(at);
  if (low > size - 1) low = size - 1;
  float weight = at - static_cast<float>(low);
  if (weight > 1) weight = 1;
  return {low, low < size - 1 ? low + 1 : low, 1 - weight, weight};
}

float StepOf(const Tensor& input, std::optional<Span<const double>> scale_factors, const Tensor& out, int i,
             bool align_corners) {
  if (!align_corners) return ResizeStep(input, scale_factors, out, i);
  if (out.sizes[2 + i] <= 1) return 0;
  return static_cast<float>(input.sizes[2 + i] - 1) / static_cast<float>(out.sizes[2 + i] - 1);
}

}  // namespace

Status aten::upsample_bilinear2d_vec_out(KernelContext&, const Tensor& input, const IntList* output_size,
                                         bool align_corners, std::optional<Span<const double>> scale_factors,
                                         Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&input, &out}));
  if (!IsFloat(input.dtype) || !IsFloat(out.dtype)) return Refuse("bilinear upsampling is of float32 only");
  CORTEX_M_RETURN_IF_ERROR(CheckResize(input, output_size, scale_factors, out));
  Images from;
  Images to;
  if (!ImagesOf(input, 2, from) || !ImagesOf(out, 2, to)) return Refuse(kWrongOutSizes);
  const float row_step = StepOf(input, scale_factors, out, 0, align_corners);
  const float column_step = StepOf(input, scale_factors, out, 1, align_corners);
  const float* in = input.as<float>();
  for (int32_t y = 0; y < to.h; ++y) {
    const Blend rows = BlendAt(y, row_step, align_corners, from.h);
    for (int32_t x = 0; x < to.w; ++x) {
      const Blend columns = BlendAt(x, column_step, align_corners, from.w);
      for (int32_t n = 0; n < to.n; ++n) {
        for (int32_t c = 0; c < to.c; ++c) {
          const auto row = [&](int32_t at) {
            return columns.low_weight * in[from.At(n, c, at, columns.low)] +
                   columns.high_weight * in[from.At(n, c, at, columns.high)];
          };
          out.mutable_as<float>()[to.At(n, c, y, x)] =
              rows.low_weight * row(rows.low) + rows.high_weight * row(rows.high);
        }
      }
    }
  }
  return Status();
}

}  // namespace cortex_m
