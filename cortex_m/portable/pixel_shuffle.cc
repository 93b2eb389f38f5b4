// pixel_shuffle: [..., C r r, H, W] -> [..., C, H r, W r], and pixel_unshuffle, the reverse.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

// Copies between `coarse` [..., C r r, H, W] and `fine` [..., C, H r, W r], into the one that is `out`.
Status Shuffle(const Tensor& coarse, const Tensor& fine, int64_t r, const Tensor& self, const Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (self.rank < 3) return Refuse("the input must have a channel, a height and a width");
  if (r <= 0) return Refuse("the factor must be positive");
  if (r > 32767) return Refuse("the factor is larger than any image");
  const int rank = self.rank;
  const int c = rank - 3, h = rank - 2, w = rank - 1;
  bool fits = out.rank == rank && coarse.sizes[c] == fine.sizes[c] * r * r && fine.sizes[h] == coarse.sizes[h] * r &&
              fine.sizes[w] == coarse.sizes[w] * r;
  for (int i = 0; fits && i < c; ++i) fits = coarse.sizes[i] == fine.sizes[i];
  if (!fits) return Refuse(kWrongOutSizes);

  int32_t a[kMaxRank];
  int32_t b[kMaxRank];
  StridesOf(coarse, a);
  StridesOf(fine, b);
  const bool to_fine = &out == &fine;
  Loops loops(2);
  const auto add = [&](int32_t size, int32_t of_coarse, int32_t of_fine) {
    if (to_fine) return loops.Add(size, {of_fine, of_coarse});
    loops.Add(size, {of_coarse, of_fine});
  };
  const int32_t factor = static_cast<int32_t>(r);
  for (int i = 0; i < c; ++i) add(fine.sizes[i], a[i], b[i]);
  add(fine.sizes[c], a[c] * factor * factor, b[c]);
  add(coarse.sizes[h], a[h], b[h] * factor);
  add(factor, a[c] * factor, b[h]);
  add(coarse.sizes[w], a[w], b[w] * factor);
  add(factor, a[c], b[w]);
  if (!loops.empty()) CopyStrided(loops, out.data, self.data, ElementSize(self.dtype));
  return Status();
}

}  // namespace

Status aten::pixel_shuffle_out(KernelContext&, const Tensor& self, int64_t upscale_factor, Tensor& out) {
  return Shuffle(self, out, upscale_factor, self, out);
}
Status aten::pixel_unshuffle_out(KernelContext&, const Tensor& self, int64_t downscale_factor, Tensor& out) {
  return Shuffle(out, self, downscale_factor, self, out);
}

}  // namespace cortex_m
