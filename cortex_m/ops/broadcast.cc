#include "cortex_m/ops/broadcast.h"

#include <cstddef>

namespace cortex_m::ops {

namespace {

// Strides of an operand for each dimension of the output, in elements; 0 where it is repeated. False if it does not fit.
bool ReadStrides(const Tensor& operand, const Tensor& out, int32_t strides[kMaxRank]) {
  if (operand.rank > out.rank) return false;
  const int missing = out.rank - operand.rank;
  for (int i = 0; i < missing; ++i) strides[i] = 0;
  uint32_t stride = 1;  // wraps only where there are no elements
  for (int i = operand.rank - 1; i >= 0; --i) {
    const int dim = operand.dim_order[i];
    const int32_t size = operand.sizes[dim];
    if (size != 1 && size != out.sizes[missing + dim]) return false;
    strides[missing + dim] = size == 1 ? 0 : static_cast<int32_t>(stride);
    stride *= static_cast<uint32_t>(size);
  }
  return true;
}

// Whether some operand has each size of the output: a 3 that both would have to be repeated for is nobody's.
bool SizesComeFrom(const Tensor& self, const Tensor& other, const Tensor& out) {
  for (int i = 0; i < out.rank; ++i) {
    const int a = i - (out.rank - self.rank), b = i - (out.rank - other.rank);
    const bool found = (a >= 0 && self.sizes[a] == out.sizes[i]) || (b >= 0 && other.sizes[b] == out.sizes[i]);
    if (!found) return false;
  }
  return true;
}

}  // namespace

Status Broadcast::Start(const KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out) {
  int64_t elements = 1;
  for (int i = 0; i < out.rank; ++i) {
    if (out.sizes[i] != 0 && elements > INT32_MAX / out.sizes[i]) {
      return context.Fail("the output has more than 2^31 - 1 elements");
    }
    elements *= out.sizes[i];
  }
  int32_t strides[2][kMaxRank];
  if (!ReadStrides(self, out, strides[0]) || !ReadStrides(other, out, strides[1]) || !SizesComeFrom(self, other, out)) {
    return context.Fail("the operands do not broadcast to the sizes of the output");
  }
  element_ = ElementSize(out.dtype);
  out_ = out.mutable_as<uint8_t>();
  operands_[0].base = self.as<uint8_t>();
  operands_[1].base = other.as<uint8_t>();
  left_ = static_cast<int32_t>(elements);
  loops_ = 0;
  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    if (out.sizes[dim] != 1) AddLoop(out.sizes[dim], strides[0][dim], strides[1][dim]);
  }
  if (loops_ == 0) AddLoop(1, 1, 1);
  PlanRun();
  return Status();
}

// Loops over neighbours in memory, of both operands, are one loop.
void Broadcast::AddLoop(int32_t size, int32_t self_stride, int32_t other_stride) {
  const int32_t strides[2] = {self_stride, other_stride};
  bool merges = loops_ > 0;
  for (int i = 0; merges && i < 2; ++i) {
    merges = operands_[i].strides[loops_ - 1] == int64_t{strides[i]} * size;
  }
  if (!merges) sizes_[loops_++] = 1;
  sizes_[loops_ - 1] *= size;
  for (int i = 0; i < 2; ++i) operands_[i].strides[loops_ - 1] = strides[i];
}

// A run is the innermost loop; with the one around it, if that one walks densely over one operand and repeats the other, and
// a repetition is short.
void Broadcast::PlanRun() {
  const int32_t inner = sizes_[--loops_];
  bool both = loops_ > 0 && inner <= kTile / 2;
  for (const Operand& operand : operands_) {
    const int32_t around = loops_ > 0 ? operand.strides[loops_ - 1] : 0;
    both = both && (around == 0 || (operand.strides[loops_] == 1 && around == inner));
  }
  run_ = both ? inner * sizes_[loops_ - 1] : inner;
  chunk_ = run_;
  for (Operand& operand : operands_) {
    operand.step = operand.strides[loops_];
    const bool repeats = both && operand.strides[loops_ - 1] == 0;
    operand.period = operand.step == 0 ? 1 : repeats ? inner : run_;
    operand.dense = operand.step == 1 && operand.period == run_;
    if (!operand.dense) chunk_ = both ? kTile / inner * inner : kTile;
  }
  if (both) --loops_;
  for (int i = 0; i < loops_; ++i) index_[i] = 0;
  offset_ = 0;
  count_ = 0;
}

bool Broadcast::Next() {
  out_ += static_cast<size_t>(count_) * element_;
  offset_ += count_;
  left_ -= count_;
  if (left_ == 0) return false;
  if (offset_ == run_) {
    offset_ = 0;
    for (int i = loops_ - 1; i >= 0; --i) {
      const bool wraps = ++index_[i] == sizes_[i];
      for (Operand& operand : operands_) {
        const ptrdiff_t stride = static_cast<ptrdiff_t>(operand.strides[i]) * static_cast<ptrdiff_t>(element_);
        operand.base += wraps ? -stride * (sizes_[i] - 1) : stride;
      }
      if (!wraps) break;
      index_[i] = 0;
    }
  }
  count_ = run_ - offset_ < chunk_ ? run_ - offset_ : chunk_;
  for (Operand& operand : operands_) Read(&operand);
  return true;
}

void Broadcast::Read(Operand* operand) {
  if (operand->dense) {
    operand->values = operand->base + static_cast<size_t>(offset_) * element_;
    return;
  }
  operand->values = operand->tile;
  if (offset_ != 0 && operand->period <= chunk_) return;  // chunks hold whole periods: the tile stays as it is
  if (element_ == 1) {
    Fill<int8_t>(operand);
  } else {
    Fill<int16_t>(operand);
  }
}

template <typename T>
void Broadcast::Fill(Operand* operand) const {
  const T* from = reinterpret_cast<const T*>(operand->base);
  T* to = reinterpret_cast<T*>(operand->tile);
  int32_t place = offset_ % operand->period;
  for (int32_t i = 0; i < count_; ++i) {
    to[i] = from[place * operand->step];
    if (++place == operand->period) place = 0;
  }
}

}  // namespace cortex_m::ops
