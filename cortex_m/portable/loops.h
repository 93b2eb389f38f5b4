// A nest of loops over the elements of up to kMaxOperands tensors at once, and the walk through it.
//
//   Loops loops(2);                                          // operands: 0 is the one that is written, by custom
//   for (int i = 0; i < out.rank; ++i) {                     // from the outermost dimension to the innermost
//     const int d = out.dim_order[i];
//     loops.Add(out.sizes[d], {out_strides[d], in_strides[d]});
//   }
//   for (Walk walk(loops); !walk.done(); walk.Next()) {      // one turn for each run of the innermost loop
//     Run(out + walk.offset(0), loops.inner_stride(0), in + walk.offset(1), loops.inner_stride(1), loops.inner_size());
//   }
//
// Loops of one turn vanish and loops that continue each other become one, so that contiguous tensors are one long run.
#ifndef CORTEX_M_PORTABLE_LOOPS_H_
#define CORTEX_M_PORTABLE_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "cortex_m/runtime/tensor.h"

namespace cortex_m::portable {

constexpr int kMaxOperands = 5;
// A tensor has fewer than 2^31 bytes: at most 30 of its dimensions, however they are split, are larger than 1.
constexpr int kMaxLoops = 31;

// Distance, in elements, of neighbours along each logical dimension; strides has tensor.rank entries.
void StridesOf(const Tensor& tensor, int32_t* strides);

class Loops {
 public:
  explicit Loops(int operands) : operands_(operands) {}

  // The next loop inwards; a stride, in elements, for each operand.
  void Add(int32_t size, const int32_t* strides);
  void Add(int32_t size, std::initializer_list<int32_t> strides) { Add(size, strides.begin()); }

  // The same nest with operands 0 and 1 in each other's place.
  Loops Swapped() const;

  bool empty() const { return empty_; }
  int32_t inner_size() const { return count_ == 0 ? 1 : size_[count_ - 1]; }
  int32_t inner_stride(int operand) const { return count_ == 0 ? 0 : stride_[count_ - 1][operand]; }

 private:
  friend class Walk;
  int operands_;
  int count_ = 0;
  bool empty_ = false;  // some loop has no turn
  int32_t size_[kMaxLoops];
  int32_t stride_[kMaxLoops][kMaxOperands];
};

class Walk {
 public:
  explicit Walk(const Loops& loops) : loops_(loops), done_(loops.empty()) {}
  bool done() const { return done_; }
  // In elements, of the current run's first.
  ptrdiff_t offset(int operand) const { return offset_[operand]; }
  void Next();

 private:
  const Loops& loops_;
  bool done_;
  int32_t turn_[kMaxLoops] = {};
  ptrdiff_t offset_[kMaxOperands] = {};
};

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_LOOPS_H_
