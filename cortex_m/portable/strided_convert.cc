#include "cortex_m/portable/strided_convert.h"

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m::portable {
namespace {

constexpr int32_t kBuffer = 32;

template <typename Lane>
void Convert(const Loops& loops, void* out, ScalarType out_type, const void* in, ScalarType in_type) {
  Lane buffer[kBuffer];
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (int32_t begin = 0; begin < loops.inner_size(); begin += kBuffer) {
      const int32_t left = loops.inner_size() - begin;
      const size_t count = static_cast<size_t>(left < kBuffer ? left : kBuffer);
      const ptrdiff_t from = walk.offset(1) + static_cast<ptrdiff_t>(begin) * loops.inner_stride(1);
      const ptrdiff_t to = walk.offset(0) + static_cast<ptrdiff_t>(begin) * loops.inner_stride(0);
      Load(in_type, in, from, loops.inner_stride(1), count, buffer);
      Store(buffer, count, out_type, out, to, loops.inner_stride(0));
    }
  }
}

}  // namespace

void ConvertStrided(const Loops& loops, void* out, ScalarType out_type, const void* in, ScalarType in_type) {
  if (loops.empty()) return;
  if (out_type == in_type) return CopyStrided(loops, out, in, ElementSize(out_type));
  if (IsFloat(out_type) || IsFloat(in_type)) return Convert<float>(loops, out, out_type, in, in_type);
  Convert<int64_t>(loops, out, out_type, in, in_type);
}

}  // namespace cortex_m::portable
