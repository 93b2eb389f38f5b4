#include "cortex_m/portable/elementwise.h"

#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {
namespace {

constexpr size_t kBuffer = 32;  // elements of an operand read at a time
constexpr int kMaxInputs = kMaxOperands - 1;

// An operand of the loops: a tensor's elements, or one number that stays in its buffer.
struct Source {
  const Tensor* tensor;
  ScalarType as;  // the type its elements are converted to before the lane
};

struct Job {
  Loops loops{kMaxOperands};
  Source sources[kMaxInputs];
  int count = 0;
  const Operand* operands = nullptr;
  ScalarType common = ScalarType::kFloat;
  ScalarType result = ScalarType::kFloat;
};

template <typename Lane>
const char* Run(LaneFunction<Lane> function, const Job& job, Tensor& out) {
  Lane buffers[kMaxInputs][kBuffer];
  Lane results[kBuffer];
  const Lane* in[kMaxInputs];
  const Loops& loops = job.loops;
  const int32_t size = loops.inner_size();
  bool buffered = false;
  bool in_place[kMaxInputs] = {};
  for (int k = 0; k < job.count; ++k) {
    const Tensor* tensor = job.sources[k].tensor;
    if (tensor == nullptr) {
      const Scalar& scalar = job.operands[k].scalar();
      Lane value = ScalarAs<Lane>(scalar);
      if (job.common == ScalarType::kBool && scalar.tag == Tag::kDouble) value = scalar.as_double != 0;
      Wrap(job.common, &value, 1);
      for (Lane& element : buffers[k]) element = value;
      in[k] = buffers[k];
      buffered = true;
      continue;
    }
    in_place[k] = tensor->dtype == kLaneType<Lane> && job.sources[k].as == tensor->dtype &&
                  (size == 1 || loops.inner_stride(k + 1) == 1);
    buffered |= !in_place[k];
  }
  const bool store_in_place =
      out.dtype == kLaneType<Lane> && job.result == out.dtype && (size == 1 || loops.inner_stride(0) == 1);
  const size_t step = buffered || !store_in_place ? kBuffer : static_cast<size_t>(size);

  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (size_t begin = 0; begin < static_cast<size_t>(size); begin += step) {
      const size_t left = static_cast<size_t>(size) - begin;
      const size_t count = left < step ? left : step;
      for (int k = 0; k < job.count; ++k) {
        const Source& source = job.sources[k];
        if (source.tensor == nullptr) continue;
        const int32_t stride = loops.inner_stride(k + 1);
        const ptrdiff_t offset = walk.offset(k + 1) + static_cast<ptrdiff_t>(begin) * stride;
        if (in_place[k]) {
          in[k] = source.tensor->as<Lane>() + offset;
          continue;
        }
        Load(source.tensor->dtype, source.tensor->data, offset, stride, count, buffers[k]);
        if (source.as != source.tensor->dtype) Wrap(source.as, buffers[k], count);
        in[k] = buffers[k];
      }
      const int32_t stride = loops.inner_stride(0);
      const ptrdiff_t offset = walk.offset(0) + static_cast<ptrdiff_t>(begin) * stride;
      Lane* to = store_in_place ? out.mutable_as<Lane>() + offset : results;
      if (const char* sentence = function(in, to, count); sentence != nullptr) return sentence;
      if (store_in_place) continue;
      if (job.result != out.dtype) Wrap(job.result, results, count);
      Store(results, count, out.dtype, out.data, offset, stride);
    }
  }
  return nullptr;
}

// Each size of `out` must come from some tensor: broadcasting makes no new elements.
bool IsBroadcastOf(const Tensor& out, Operands operands) {
  for (int i = 0; i < out.rank; ++i) {
    bool found = false;
    for (const Operand& operand : operands) {
      if (operand.tensor() == nullptr) continue;
      const int dim = i - (out.rank - operand.tensor()->rank);
      found |= dim >= 0 && operand.tensor()->sizes[dim] == out.sizes[i];
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace

ScalarType CommonType(Operands operands) {
  // Of tensors with dimensions, of tensors without, and of numbers; each of the later counts only if its kind (bool,
  // integer, float) is higher than that of the former.
  bool has[3] = {};
  ScalarType types[3] = {ScalarType::kBool, ScalarType::kBool, ScalarType::kBool};
  for (const Operand& operand : operands) {
    if (!operand.has_say()) continue;
    const Tensor* tensor = operand.tensor();
    const int rung = tensor == nullptr ? 2 : (tensor->rank == 0 ? 1 : 0);
    const ScalarType type = tensor == nullptr ? TypeOf(operand.scalar()) : tensor->dtype;
    types[rung] = has[rung] ? Promote(types[rung], type) : type;
    has[rung] = true;
  }
  const auto kind = [](ScalarType type) { return IsFloat(type) ? 2 : (type == ScalarType::kBool ? 0 : 1); };
  ScalarType common = ScalarType::kBool;
  bool any = false;
  for (int rung = 2; rung >= 0; --rung) {
    if (!has[rung]) continue;
    if (!any || kind(types[rung]) >= kind(common)) common = types[rung];
    any = true;
  }
  return common;
}

Status Elementwise(const ElementwiseKernel& kernel, Result result, Operands operands, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(out));
  Job job;
  job.operands = operands.begin();
  job.common = CommonType(operands);
  if (result == Result::kFloat) job.common = ScalarType::kFloat;
  job.result = result == Result::kBool ? ScalarType::kBool : job.common;
  if (!CanCast(job.result, out.dtype)) return Refuse("the out tensor's type cannot hold the type of the result");

  int32_t strides[kMaxOperands][kMaxRank] = {};
  StridesOf(out, strides[0]);
  for (const Operand& operand : operands) {
    Source& source = job.sources[job.count];
    source = {operand.tensor(), operand.is_condition() ? ScalarType::kBool : job.common};
    if (operand.tensor() != nullptr) {
      CORTEX_M_RETURN_IF_ERROR(Check(*operand.tensor()));
      if (!BroadcastStrides(*operand.tensor(), out.sizes, out.rank, strides[job.count + 1])) {
        return Refuse("an input cannot be broadcast to the sizes of the out tensor");
      }
    }
    ++job.count;
  }
  if (!IsBroadcastOf(out, operands)) return Refuse(kWrongOutSizes);

  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    int32_t along[kMaxOperands];
    for (int k = 0; k < kMaxOperands; ++k) along[k] = strides[k][dim];
    job.loops.Add(out.sizes[dim], along);
  }
  const char* sentence = nullptr;
  if (IsFloat(job.common)) {
    if (kernel.in_float == nullptr) return Refuse("the operator is defined for integers and bool only");
    sentence = Run(kernel.in_float, job, out);
  } else {
    if (kernel.in_int32 == nullptr) return Refuse("the operator is defined for float32 only");
    // The narrower lane whenever it holds the common type.
    sentence = job.common == ScalarType::kLong ? Run(kernel.in_int64, job, out) : Run(kernel.in_int32, job, out);
  }
  return sentence == nullptr ? Status() : Refuse(sentence);
}

}  // namespace cortex_m::portable
