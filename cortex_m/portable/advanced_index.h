// Advanced indexing, self[:, i, j, :]: some dimensions are picked by index tensors that are broadcast against each
// other (or by one bool mask), the others are taken whole.
//
// The positions are the elements of the broadcast index, in logical order (of a mask: its true elements). The result
// has their dimensions in place of the indexed ones if those are neighbours, else in front, and then the others in
// order.
#ifndef CORTEX_M_PORTABLE_ADVANCED_INDEX_H_
#define CORTEX_M_PORTABLE_ADVANCED_INDEX_H_

#include <cstdint>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/loops.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m::portable {

using Indices = Span<const Tensor* const>;

class AdvancedIndex {
 public:
  // Checks types and ranks.
  Status Init(const Tensor& self, Indices indices);
  // Checks every index: for a kernel that writes where they say. Positions check each one again where it is used.
  Status CheckRange() const;

  int result_rank() const { return result_rank_; }
  const int32_t* result_sizes() const { return result_sizes_; }

  // Loops over the dimensions taken whole: operand 0 has `result_strides`, operand 1 is self.
  Loops WholeDims(const int32_t* result_strides) const;

  // Goes through the positions: offset of each in self and, by `result_strides`, in the result.
  class Positions {
   public:
    Positions(const AdvancedIndex& index, const int32_t* result_strides);
    bool done() const { return done_; }
    // Of the last position: an error if an index, or the number of a mask's true elements, is not what the result has room for.
    Status status() const { return status_; }
    void Next();
    ptrdiff_t in_self() const { return in_self_; }
    ptrdiff_t in_result() const { return in_result_; }

   private:
    bool Step();
    void Locate();
    void Stop(const char* sentence);
    const AdvancedIndex& index_;
    const int32_t* result_strides_;
    int32_t at_[kMaxRank] = {};
    int64_t count_ = 0;  // true elements of a mask so far
    ptrdiff_t in_self_ = 0;
    ptrdiff_t in_result_ = 0;
    bool done_ = false;
    Status status_;
  };

 private:
  Status InitMask();
  Status InitIndices();
  Status SetResult(int inserted_rank, const int32_t* inserted_sizes);
  bool IsIndexed(int dim) const { return (indexed_ >> dim & 1) != 0; }

  const Tensor* self_ = nullptr;
  Indices indices_;
  const Tensor* mask_ = nullptr;
  int mask_dim_ = 0;       // the first of self's dimensions that the mask covers
  uint32_t indexed_ = 0;   // self's dimensions that are picked
  int inserted_ = 0;       // where the positions' dimensions begin in the result
  int position_rank_ = 0;  // of the broadcast index, or of the mask
  int32_t position_sizes_[kMaxRank] = {};
  int32_t self_strides_[kMaxRank] = {};
  int result_rank_ = 0;
  int32_t result_sizes_[kMaxRank] = {};
};

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_ADVANCED_INDEX_H_
