// Memory that is handed out once, from front to back.
//
//   Pool pool(memory);
//   Span<uint8_t> program = pool.Take(length);   // {nullptr, 0} if it does not fit
//   pool.Rewind(mark);                           // gives back all that was taken since pool.mark()
//
// Built with AddressSanitizer, it keeps a gap between any two pieces, and an access outside of the pieces ends the program.
#ifndef CORTEX_M_RUNTIME_POOL_H_
#define CORTEX_M_RUNTIME_POOL_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/tensor.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace cortex_m {

class Pool {
 public:
  // `memory` is aligned to kDataAlignment.
  explicit Pool(Span<uint8_t> memory) : memory_(memory) { Forbid(0, memory.size); }

  // Aligned to kDataAlignment. A size of 0 is given a non-null pointer.
  Span<uint8_t> Take(size_t bytes) {
    const size_t left = memory_.size - used_;
    if (bytes > left) return {};
    const Span<uint8_t> taken = {memory_.data + used_, bytes};
    const size_t rounded = ((bytes + kDataAlignment - 1) & ~(kDataAlignment - 1)) + kGap;
    used_ += rounded < left ? rounded : left;
    Allow(taken);
    return taken;
  }

  size_t mark() const { return used_; }
  void Rewind(size_t mark) {
    Forbid(mark, used_);
    used_ = mark;
  }
  size_t left() const { return memory_.size - used_; }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t kGap = 64;
  void Forbid(size_t begin, size_t end) { __asan_poison_memory_region(memory_.data + begin, end - begin); }
  void Allow(Span<uint8_t> piece) { __asan_unpoison_memory_region(piece.data, piece.size); }
#else
  static constexpr size_t kGap = 0;
  void Forbid(size_t, size_t) {}
  void Allow(Span<uint8_t>) {}
#endif

  Span<uint8_t> memory_;
  size_t used_ = 0;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_POOL_H_
