// avg_pool1d, avg_pool2d and _adaptive_avg_pool2d of float32, and max_pool2d_with_indices of any number type.
//
// Averages add the window's rows, then columns, in float32, and divide once.

#include <limits>

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/math.h"
#include "cortex_m/portable/window.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Pooling {
  Images in, out;
  Pair kernel, stride, padding, dilation{1, 1};
};

Status Prepare(const Tensor& self, const Tensor& out, int spatial, IntList kernel_size, IntList stride, IntList padding,
               IntList dilation, bool ceil_mode, Pooling& p) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  if (self.rank != out.rank || !ImagesOf(self, spatial, p.in) || !ImagesOf(out, spatial, p.out)) {
    return Refuse("pooling takes its spatial dimensions, a channel, and perhaps a batch");
  }
  if (self.dtype != out.dtype) return Refuse("the out tensor has another element type than the input");
  if (kernel_size.size == 0 || !PairOf(kernel_size, spatial, 1, {1, 1}, 1, p.kernel)) {
    return Refuse("kernel_size must be positive, one for each spatial dimension");
  }
  if (!PairOf(stride, spatial, 1, p.kernel, 1, p.stride) || !PairOf(dilation, spatial, 1, {1, 1}, 1, p.dilation)) {
    return Refuse("stride and dilation must be positive, one for each spatial dimension");
  }
  if (!PairOf(padding, spatial, 0, {0, 0}, 0, p.padding)) {
    return Refuse("padding must not be negative, one for each spatial dimension");
  }
  if (p.padding.h > p.kernel.h / 2 || p.padding.w > p.kernel.w / 2) {
    return Refuse("padding must be at most half of the kernel");
  }
  const bool fits = p.out.n == p.in.n && p.out.c == p.in.c &&
                    p.out.h == WindowCount(p.in.h, p.kernel.h, p.stride.h, p.padding.h, p.dilation.h, ceil_mode) &&
                    p.out.w == WindowCount(p.in.w, p.kernel.w, p.stride.w, p.padding.w, p.dilation.w, ceil_mode);
  return fits ? Status() : Refuse(kWrongOutSizes);
}

template <typename Visit>
void ForEachOutput(const Images& out, Visit visit) {
  for (int32_t n = 0; n < out.n; ++n) {
    for (int32_t c = 0; c < out.c; ++c) {
      for (int32_t y = 0; y < out.h; ++y) {
        for (int32_t x = 0; x < out.w; ++x) visit(n, c, y, x);
      }
    }
  }
}

int32_t Least(int32_t a, int32_t b) { return a < b ? a : b; }
int32_t Largest(int32_t a, int32_t b) { return a > b ? a : b; }

// The sum of a rectangle of the input.
float SumOf(const Tensor& self, const Images& in, int32_t n, int32_t c, int32_t top, int32_t bottom, int32_t left,
            int32_t right) {
  float sum = 0;
  for (int32_t y = top; y < bottom; ++y) {
    for (int32_t x = left; x < right; ++x) sum += self.as<float>()[in.At(n, c, y, x)];
  }
  return sum;
}

Status AveragePool(const Tensor& self, int spatial, IntList kernel_size, IntList stride, IntList padding,
                   bool ceil_mode, bool count_include_pad, const int64_t* divisor_override, Tensor& out) {
  Pooling p;
  CORTEX_M_RETURN_IF_ERROR(Prepare(self, out, spatial, kernel_size, stride, padding, {}, ceil_mode, p));
  if (!IsFloat(self.dtype)) return Refuse("averages are of float32 only");
  if (divisor_override != nullptr && *divisor_override == 0) return Refuse("divisor_override must not be zero");
  ForEachOutput(p.out, [&](int32_t n, int32_t c, int32_t y, int32_t x) {
    int32_t top = y * p.stride.h - p.padding.h;
    int32_t left = x * p.stride.w - p.padding.w;
    // With ceil_mode a window may go beyond the padding; only the padding counts.
    int32_t bottom = Least(top + p.kernel.h, p.in.h + p.padding.h);
    int32_t right = Least(left + p.kernel.w, p.in.w + p.padding.w);
    const int32_t padded = (bottom - top) * (right - left);
    top = Largest(top, 0);
    left = Largest(left, 0);
    bottom = Least(bottom, p.in.h);
    right = Least(right, p.in.w);
    float& to = out.mutable_as<float>()[p.out.At(n, c, y, x)];
    if (top >= bottom || left >= right) {
      to = 0;
      return;
    }
    const int64_t divisor = divisor_override != nullptr ? *divisor_override
                            : count_include_pad         ? padded
                                                        : (bottom - top) * (right - left);
    to = SumOf(self, p.in, n, c, top, bottom, left, right) / static_cast<float>(divisor);
  });
  return Status();
}

// What a maximum of no elements is.
template <typename Lane>
Lane LowestOf(ScalarType type) {
  if constexpr (kLaneType<Lane> == ScalarType::kFloat) return -std::numeric_limits<Lane>::infinity();
  if (type == ScalarType::kByte) return 0;
  return static_cast<Lane>(std::numeric_limits<int64_t>::min() >> (64 - 8 * ElementSize(type)));
}

// The first position of a window that lies in the input, or beyond its end.
int32_t FirstInside(int32_t begin, int32_t dilation) {
  return begin >= 0 ? begin : begin + (dilation - 1 - begin) / dilation * dilation;
}

template <typename Lane>
void MaxPool(const Pooling& p, const Tensor& self, const Tensor& out, const Images& index_images,
             const Tensor& indices) {
  ForEachOutput(p.out, [&](int32_t n, int32_t c, int32_t y, int32_t x) {
    const int32_t top = y * p.stride.h - p.padding.h;
    const int32_t left = x * p.stride.w - p.padding.w;
    const int32_t bottom = Least(top + (p.kernel.h - 1) * p.dilation.h + 1, p.in.h);
    const int32_t right = Least(left + (p.kernel.w - 1) * p.dilation.w + 1, p.in.w);
    const int32_t first_y = FirstInside(top, p.dilation.h);
    const int32_t first_x = FirstInside(left, p.dilation.w);
    Lane best = LowestOf<Lane>(self.dtype);
    int64_t best_at = static_cast<int64_t>(first_y) * p.in.w + first_x;
    for (int32_t iy = first_y; iy < bottom; iy += p.dilation.h) {
      for (int32_t ix = first_x; ix < right; ix += p.dilation.w) {
        Lane value;
        Load(self.dtype, self.data, p.in.At(n, c, iy, ix), 1, 1, &value);
        // Of equal values the first counts, of NaNs the last, as in PyTorch.
        if (value > best || value != value) {
          best = value;
          best_at = static_cast<int64_t>(iy) * p.in.w + ix;
        }
      }
    }
    Store(&best, 1, out.dtype, out.data, p.out.At(n, c, y, x), 1);
    indices.mutable_as<int64_t>()[index_images.At(n, c, y, x)] = best_at;
  });
}

}  // namespace

Status aten::avg_pool1d_out(KernelContext&, const Tensor& self, IntList kernel_size, IntList stride, IntList padding,
                            bool ceil_mode, bool count_include_pad, Tensor& out) {
  return AveragePool(self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, nullptr, out);
}
Status aten::avg_pool2d_out(KernelContext&, const Tensor& self, IntList kernel_size, IntList stride, IntList padding,
                            bool ceil_mode, bool count_include_pad, const int64_t* divisor_override, Tensor& out) {
  return AveragePool(self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out);
}

Status aten::max_pool2d_with_indices_out(KernelContext&, const Tensor& self, IntList kernel_size, IntList stride,
                                         IntList padding, IntList dilation, bool ceil_mode, Tensor& out,
                                         Tensor& indices) {
  Pooling p;
  CORTEX_M_RETURN_IF_ERROR(Prepare(self, out, 2, kernel_size, stride, padding, dilation, ceil_mode, p));
  if (self.dtype == ScalarType::kBool) return Refuse("bools have no maximum here");
  if (indices.rank > kMaxRank || indices.dtype != ScalarType::kLong) return Refuse("indices are int64");
  Images index_images;
  if (!SameSizes(out, indices) || !ImagesOf(indices, 2, index_images)) return Refuse(kWrongOutSizes);
  if (IsFloat(self.dtype)) {
    MaxPool<float>(p, self, out, index_images, indices);
  } else {
    MaxPool<int64_t>(p, self, out, index_images, indices);
  }
  return Status();
}

// Output i averages the inputs floor(i in / out) to ceil((i + 1) in / out) - 1 along each dimension.
Status aten::_adaptive_avg_pool2d_out(KernelContext&, const Tensor& self, IntList output_size, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  if (!IsFloat(self.dtype) || !IsFloat(out.dtype)) return Refuse("averages are of float32 only");
  Images from;
  Images to;
  if (self.rank != out.rank || !ImagesOf(self, 2, from) || !ImagesOf(out, 2, to)) {
    return Refuse("pooling takes its spatial dimensions, a channel, and perhaps a batch");
  }
  if (output_size.size != 2 || to.h != output_size[0] || to.w != output_size[1] || to.n != from.n || to.c != from.c) {
    return Refuse(kWrongOutSizes);
  }
  if (from.h == 0 || from.w == 0) return Refuse("there is no average of no elements");
  const auto begin = [](int32_t i, int32_t in_size, int32_t out_size) {
    return static_cast<int32_t>(static_cast<int64_t>(i) * in_size / out_size);
  };
  const auto end = [](int32_t i, int32_t in_size, int32_t out_size) {
    return static_cast<int32_t>(((static_cast<int64_t>(i) + 1) * in_size - 1) / out_size + 1);
  };
  ForEachOutput(to, [&](int32_t n, int32_t c, int32_t y, int32_t x) {
    const int32_t top = begin(y, from.h, to.h), bottom = end(y, from.h, to.h);
    const int32_t left = begin(x, from.w, to.w), right = end(x, from.w, to.w);
    out.mutable_as<float>()[to.At(n, c, y, x)] =
        SumOf(self, from, n, c, top, bottom, left, right) / static_cast<float>((bottom - top) * (right - left));
  });
  return Status();
}

}  // namespace cortex_m
