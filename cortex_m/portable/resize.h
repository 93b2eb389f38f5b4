// Sizes and steps of the upsampling operators, as PyTorch has them.
#ifndef CORTEX_M_PORTABLE_RESIZE_H_
#define CORTEX_M_PORTABLE_RESIZE_H_

#include <optional>

#include "cortex_m/portable/check.h"

namespace cortex_m::portable {

// input and out are [N, C, H, W] with the same N and C; out's H and W are output_size, or floor(size * scale_factor).
inline Status CheckResize(const Tensor& input, const IntList* output_size,
                          std::optional<Span<const double>> scale_factors, const Tensor& out) {
  if (input.rank != 4 || out.rank != 4) return Refuse("upsampling takes tensors of four dimensions");
  if ((output_size != nullptr) == scale_factors.has_value()) {
    return Refuse("exactly one of output_size and scale_factors must be given");
  }
  if (input.sizes[0] != out.sizes[0] || input.sizes[1] != out.sizes[1]) return Refuse(kWrongOutSizes);
  if (input.sizes[2] <= 0 || input.sizes[3] <= 0) return Refuse("an image without pixels cannot be upsampled");
  if (output_size != nullptr) {
    if (output_size->size != 2) return Refuse("output_size must have two entries");
    return (*output_size)[0] == out.sizes[2] && (*output_size)[1] == out.sizes[3] ? Status() : Refuse(kWrongOutSizes);
  }
  if (scale_factors->size != 2) return Refuse("scale_factors must have two entries");
  for (int i = 0; i < 2; ++i) {
    const double scale = (*scale_factors)[static_cast<size_t>(i)];
    if (!(scale > 0) || scale > 65536) return Refuse("a scale factor must be positive, and at most 65536");
    if (static_cast<int32_t>(input.sizes[2 + i] * scale) != out.sizes[2 + i]) return Refuse(kWrongOutSizes);
  }
  return Status();
}

// Input pixels an output pixel, along the height (0) or the width (1).
inline float ResizeStep(const Tensor& input, std::optional<Span<const double>> scale_factors, const Tensor& out,
                        int i) {
  if (scale_factors.has_value()) return static_cast<float>(1.0 / (*scale_factors)[static_cast<size_t>(i)]);
  return static_cast<float>(input.sizes[2 + i]) / static_cast<float>(out.sizes[2 + i]);
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_RESIZE_H_
