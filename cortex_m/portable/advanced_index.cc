#include "cortex_m/portable/advanced_index.h"

#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/index_read.h"

namespace cortex_m::portable {

Status AdvancedIndex::Init(const Tensor& self, Indices indices) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self));
  self_ = &self;
  indices_ = indices;
  StridesOf(self, self_strides_);
  if (indices.size > self.rank) return Refuse("there are more indices than dimensions");
  int masks = 0;
  int given = 0;
  for (size_t i = 0; i < indices.size; ++i) {
    if (indices[i] == nullptr) continue;
    ++given;
    if (indices[i]->dtype != ScalarType::kBool) continue;
    ++masks;
    mask_ = indices[i];
    mask_dim_ = static_cast<int>(i);
  }
  if (given == 0) return Refuse("no index is given");
  if (masks == 0) return InitIndices();
  return given == 1 ? InitMask() : Refuse("a mask cannot be combined with other indices");
}

Status AdvancedIndex::InitMask() {
  if (mask_->rank == 0 || mask_dim_ + mask_->rank > self_->rank) {
    return Refuse("the mask does not fit the tensor's dimensions");
  }
  position_rank_ = mask_->rank;
  for (int i = 0; i < mask_->rank; ++i) {
    if (mask_->sizes[i] != self_->sizes[mask_dim_ + i]) return Refuse("the mask does not fit the tensor's dimensions");
    position_sizes_[i] = mask_->sizes[i];
    indexed_ |= 1u << (mask_dim_ + i);
  }
  int32_t hits = 0;
  for (size_t i = 0; i < ElementCount(*mask_); ++i) hits += mask_->as<uint8_t>()[i] != 0 ? 1 : 0;
  return SetResult(1, &hits);
}

Status AdvancedIndex::InitIndices() {
  for (size_t i = 0; i < indices_.size; ++i) {
    const Tensor* index = indices_[i];
    if (index == nullptr) continue;
    CORTEX_M_RETURN_IF_ERROR(CheckIndex(*index));
    indexed_ |= 1u << i;
    if (index->rank > position_rank_) {
      // Sizes are kept right-aligned: make room in front.
      const int more = index->rank - position_rank_;
      for (int k = position_rank_ - 1; k >= 0; --k) position_sizes_[k + more] = position_sizes_[k];
      for (int k = 0; k < more; ++k) position_sizes_[k] = 1;
      position_rank_ = index->rank;
    }
    const int missing = position_rank_ - index->rank;
    for (int k = 0; k < index->rank; ++k) {
      int32_t& size = position_sizes_[missing + k];
      if (size == index->sizes[k] || index->sizes[k] == 1) continue;
      if (size != 1) return Refuse("the indices cannot be broadcast against each other");
      size = index->sizes[k];
    }
  }
  return SetResult(position_rank_, position_sizes_);
}

Status AdvancedIndex::CheckRange() const {
  for (size_t i = 0; mask_ == nullptr && i < indices_.size; ++i) {
    if (indices_[i] != nullptr) CORTEX_M_RETURN_IF_ERROR(CheckIndexRange(*indices_[i], self_->sizes[i], true));
  }
  return Status();
}

Status AdvancedIndex::SetResult(int inserted_rank, const int32_t* inserted_sizes) {
  int first = 0;
  while (!IsIndexed(first)) ++first;
  uint32_t run = indexed_ >> first;
  const bool neighbours = (run & (run + 1)) == 0;
  inserted_ = neighbours ? first : 0;
  int whole = 0;
  for (int dim = 0; dim < self_->rank; ++dim) whole += IsIndexed(dim) ? 0 : 1;
  if (whole + inserted_rank > kMaxRank) return Refuse("the result has more than 16 dimensions");
  int dim = 0;
  result_rank_ = whole + inserted_rank;
  for (int i = 0; i < result_rank_; ++i) {
    if (i >= inserted_ && i < inserted_ + inserted_rank) {
      result_sizes_[i] = inserted_sizes[i - inserted_];
      continue;
    }
    while (IsIndexed(dim)) ++dim;
    result_sizes_[i] = self_->sizes[dim++];
  }
  return Status();
}

Loops AdvancedIndex::WholeDims(const int32_t* result_strides) const {
  Loops loops(2);
  const int inserted_rank = mask_ != nullptr ? 1 : position_rank_;
  int result_dim = 0;
  for (int dim = 0; dim < self_->rank; ++dim) {
    if (IsIndexed(dim)) continue;
    if (result_dim == inserted_) result_dim += inserted_rank;
    loops.Add(self_->sizes[dim], {result_strides[result_dim], self_strides_[dim]});
    ++result_dim;
  }
  return loops;
}

AdvancedIndex::Positions::Positions(const AdvancedIndex& index, const int32_t* result_strides)
    : index_(index), result_strides_(result_strides) {
  for (int i = 0; i < index.position_rank_; ++i) done_ |= index.position_sizes_[i] == 0;
  if (!done_) Locate();
}

// To the next element of the broadcast index or mask; false at the end.
bool AdvancedIndex::Positions::Step() {
  for (int i = index_.position_rank_ - 1; i >= 0; --i) {
    if (++at_[i] < index_.position_sizes_[i]) return true;
    at_[i] = 0;
  }
  return false;
}

void AdvancedIndex::Positions::Next() {
  if (index_.mask_ != nullptr) ++count_;
  if (!Step()) {
    done_ = true;
    return;
  }
  Locate();
}

void AdvancedIndex::Positions::Stop(const char* sentence) {
  status_ = Refuse(sentence);
  done_ = true;
}

void AdvancedIndex::Positions::Locate() {
  in_self_ = 0;
  in_result_ = 0;
  int32_t strides[kMaxRank];
  if (index_.mask_ != nullptr) {
    StridesOf(*index_.mask_, strides);
    for (;;) {
      ptrdiff_t at = 0;
      for (int i = 0; i < index_.position_rank_; ++i) at += static_cast<ptrdiff_t>(at_[i]) * strides[i];
      if (index_.mask_->as<uint8_t>()[at] != 0) break;
      if (!Step()) {
        done_ = true;
        return;
      }
    }
    if (count_ >= index_.result_sizes_[index_.inserted_]) return Stop("the mask changed while it was read");
    for (int i = 0; i < index_.position_rank_; ++i) {
      in_self_ += static_cast<ptrdiff_t>(at_[i]) * index_.self_strides_[index_.mask_dim_ + i];
    }
    in_result_ = static_cast<ptrdiff_t>(count_) * result_strides_[index_.inserted_];
    return;
  }
  for (size_t k = 0; k < index_.indices_.size; ++k) {
    const Tensor* index = index_.indices_[k];
    if (index == nullptr) continue;
    static_cast<void>(BroadcastStrides(*index, index_.position_sizes_, index_.position_rank_, strides));
    ptrdiff_t at = 0;
    for (int i = 0; i < index_.position_rank_; ++i) at += static_cast<ptrdiff_t>(at_[i]) * strides[i];
    const int64_t value = IndexAt(*index, at);
    const int64_t size = index_.self_->sizes[k];
    if (value >= size || value < -size) return Stop(kIndexOutOfRange);
    in_self_ += static_cast<ptrdiff_t>(value < 0 ? value + size : value) * index_.self_strides_[k];
  }
  for (int i = 0; i < index_.position_rank_; ++i) {
    in_result_ += static_cast<ptrdiff_t>(at_[i]) * result_strides_[index_.inserted_ + i];
  }
}

}  // namespace cortex_m::portable
