// Walks an elementwise call of two operands in runs, in each of which both are dense: what the kernels take.
//
//   Broadcast walk;
//   CORTEX_M_RETURN_IF_ERROR(walk.Start(context, self, other, out));
//   while (walk.Next()) add(walk.self<int8_t>(), walk.other<int8_t>(), walk.out<int8_t>(), walk.count());
//
// Operands of equal layout are one run. An operand of one value, or of one value a channel, is repeated into a small buffer
// once; one that lies otherwise in memory than the output is gathered piece by piece. Indices are logical, as in PyTorch,
// whatever the dim orders.
#ifndef CORTEX_M_OPS_BROADCAST_H_
#define CORTEX_M_OPS_BROADCAST_H_

#include <cstdint>

#include "cortex_m/runtime/kernel.h"

namespace cortex_m::ops {

class Broadcast {
 public:
  // The three tensors have one dtype of 1 or 2 bytes. Fails unless the sizes of `out` are those that the operands broadcast to.
  Status Start(const KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out);

  // The next run, in the memory order of `out`; false after the last one.
  bool Next();

  template <typename T>
  const T* self() const {
    return reinterpret_cast<const T*>(operands_[0].values);
  }
  template <typename T>
  const T* other() const {
    return reinterpret_cast<const T*>(operands_[1].values);
  }
  template <typename T>
  T* out() const {
    return reinterpret_cast<T*>(out_);
  }
  int32_t count() const { return count_; }

 private:
  static constexpr int32_t kTile = 64;  // elements of a buffer

  struct Operand {
    const uint8_t* base;        // of the current run
    const uint8_t* values;      // of what Next() gave
    int32_t strides[kMaxRank];  // of the loops, in elements; the innermost last
    int32_t step;               // from element to element within a period
    int32_t period;             // elements after which a run repeats itself
    bool dense;
    alignas(4) uint8_t tile[2 * kTile];
  };

  void AddLoop(int32_t size, int32_t self_stride, int32_t other_stride);
  void PlanRun();
  void Read(Operand* operand);
  template <typename T>
  void Fill(Operand* operand) const;

  Operand operands_[2];
  int32_t sizes_[kMaxRank], index_[kMaxRank];
  int loops_ = 0;  // around the runs
  size_t element_ = 1;
  int32_t run_ = 0, chunk_ = 0, offset_ = 0, count_ = 0, left_ = 0;
  uint8_t* out_ = nullptr;
};

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_BROADCAST_H_
