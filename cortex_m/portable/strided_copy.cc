#include "cortex_m/portable/strided_copy.h"

#include <cstring>

namespace cortex_m::portable {
namespace {

// Elements are moved as words of their size, whatever their type.
using Word8 = uint8_t;
using Word16 [[gnu::may_alias]] = uint16_t;
using Word32 [[gnu::may_alias]] = uint32_t;
using Word64 [[gnu::may_alias]] = uint64_t;

template <typename Word>
void CopyRun(void* out, int32_t out_stride, const void* in, int32_t in_stride, int32_t count) {
  Word* to = static_cast<Word*>(out);
  const Word* from = static_cast<const Word*>(in);
  for (int32_t i = 0; i < count; ++i) {
    *to = *from;
    to += out_stride;
    from += in_stride;
  }
}

using RunFunction = void (*)(void*, int32_t, const void*, int32_t, int32_t);

RunFunction RunFor(size_t element_size) {
  switch (element_size) {
    case 1:
      return CopyRun<Word8>;
    case 2:
      return CopyRun<Word16>;
    case 4:
      return CopyRun<Word32>;
    default:
      return CopyRun<Word64>;
  }
}

}  // namespace

void CopyStrided(const Loops& loops, void* out, const void* in, size_t element_size) {
  const int32_t size = loops.inner_size();
  const int32_t out_stride = loops.inner_stride(0);
  const int32_t in_stride = loops.inner_stride(1);
  const bool dense = size == 1 || (out_stride == 1 && in_stride == 1);
  const RunFunction run = RunFor(element_size);
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    void* to = At(out, walk.offset(0), element_size);
    const void* from = At(in, walk.offset(1), element_size);
    if (dense) {
      std::memcpy(to, from, static_cast<size_t>(size) * element_size);
    } else {
      run(to, out_stride, from, in_stride, size);
    }
  }
}

void CopyInto(const Tensor& out, const void* in, ptrdiff_t in_offset, const int32_t* in_strides) {
  int32_t out_strides[kMaxRank];
  StridesOf(out, out_strides);
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    loops.Add(out.sizes[dim], {out_strides[dim], in_strides[dim]});
  }
  if (loops.empty()) return;
  const size_t element_size = ElementSize(out.dtype);
  CopyStrided(loops, out.data, At(in, in_offset, element_size), element_size);
}

void CopySameSizes(const Tensor& out, const Tensor& in) {
  int32_t in_strides[kMaxRank];
  StridesOf(in, in_strides);
  CopyInto(out, in.data, 0, in_strides);
}

void Fill(const Tensor& out, const void* element) {
  static constexpr int32_t kStay[kMaxRank] = {};
  CopyInto(out, element, 0, kStay);
}

void CopyElement(void* out, const void* in, size_t element_size) { RunFor(element_size)(out, 0, in, 0, 1); }

}  // namespace cortex_m::portable
