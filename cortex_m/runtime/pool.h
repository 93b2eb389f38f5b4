// Memory that is handed out once, from front to back.
//
//   Pool pool(memory);
//   Span<uint8_t> program = pool.Take(length);   // {nullptr, 0} if it does not fit
//   pool.Rewind(mark);                           // gives back all that was taken since pool.mark()
#ifndef CORTEX_M_RUNTIME_POOL_H_
#define CORTEX_M_RUNTIME_POOL_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

class Pool {
 public:
  // `memory` is aligned to kDataAlignment.
  explicit Pool(Span<uint8_t> memory) : memory_(memory) {}

  // Aligned to kDataAlignment. A size of 0 is given a non-null pointer.
  Span<uint8_t> Take(size_t bytes) {
    const size_t left = memory_.size - used_;
    if (bytes > left) return {};
    const Span<uint8_t> taken = {memory_.data + used_, bytes};
    const size_t rounded = (bytes + kDataAlignment - 1) & ~(kDataAlignment - 1);
    used_ += rounded < left ? rounded : left;
    return taken;
  }

  size_t mark() const { return used_; }
  void Rewind(size_t mark) { used_ = mark; }
  size_t left() const { return memory_.size - used_; }

 private:
  Span<uint8_t> memory_;
  size_t used_ = 0;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_POOL_H_
