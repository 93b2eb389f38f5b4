#include "cortex_m/portable/convert.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace cortex_m::portable {
namespace {

template <typename Element, typename Lane>
void LoadRun(const void* data, ptrdiff_t offset, int32_t stride, size_t count, Lane* lane) {
  const Element* from = static_cast<const Element*>(data) + offset;
  for (size_t i = 0; i < count; ++i, from += stride) {
    if constexpr (std::is_same_v<Element, bool>) {
      // Any byte but 0 counts as true: reading it as a C++ bool would not be defined.
      lane[i] = static_cast<Lane>(*reinterpret_cast<const uint8_t*>(from) != 0 ? 1 : 0);
    } else if constexpr (std::is_same_v<Element, float> && !std::is_same_v<Lane, float>) {
      lane[i] = static_cast<Lane>(FloatToInt(*from));
    } else {
      lane[i] = static_cast<Lane>(*from);
    }
  }
}

template <typename Element, typename Lane>
void StoreRun(const Lane* lane, size_t count, void* data, ptrdiff_t offset, int32_t stride) {
  Element* to = static_cast<Element*>(data) + offset;
  for (size_t i = 0; i < count; ++i, to += stride) {
    if constexpr (std::is_same_v<Element, bool>) {
      *to = lane[i] != 0;
    } else if constexpr (std::is_same_v<Lane, float> && !std::is_same_v<Element, float>) {
      *to = static_cast<Element>(FloatToInt(lane[i]));
    } else {
      *to = static_cast<Element>(lane[i]);
    }
  }
}

template <typename Element, typename Lane>
void WrapRun(Lane* lane, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Element, bool>) {
      lane[i] = lane[i] != 0 ? 1 : 0;
    } else {
      lane[i] = static_cast<Lane>(static_cast<Element>(lane[i]));
    }
  }
}

}  // namespace

int64_t FloatToInt(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (value != value) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

template <typename Lane>
void Load(ScalarType from, const void* data, ptrdiff_t offset, int32_t stride, size_t count, Lane* lane) {
  switch (from) {
    case ScalarType::kByte:
      return LoadRun<uint8_t>(data, offset, stride, count, lane);
    case ScalarType::kChar:
      return LoadRun<int8_t>(data, offset, stride, count, lane);
    case ScalarType::kShort:
      return LoadRun<int16_t>(data, offset, stride, count, lane);
    case ScalarType::kInt:
      return LoadRun<int32_t>(data, offset, stride, count, lane);
    case ScalarType::kLong:
      return LoadRun<int64_t>(data, offset, stride, count, lane);
    case ScalarType::kBool:
      return LoadRun<bool>(data, offset, stride, count, lane);
    default:
      return LoadRun<float>(data, offset, stride, count, lane);
  }
}

template <typename Lane>
void Store(const Lane* lane, size_t count, ScalarType to, void* data, ptrdiff_t offset, int32_t stride) {
  switch (to) {
    case ScalarType::kByte:
      return StoreRun<uint8_t>(lane, count, data, offset, stride);
    case ScalarType::kChar:
      return StoreRun<int8_t>(lane, count, data, offset, stride);
    case ScalarType::kShort:
      return StoreRun<int16_t>(lane, count, data, offset, stride);
    case ScalarType::kInt:
      return StoreRun<int32_t>(lane, count, data, offset, stride);
    case ScalarType::kLong:
      return StoreRun<int64_t>(lane, count, data, offset, stride);
    case ScalarType::kBool:
      return StoreRun<bool>(lane, count, data, offset, stride);
    default:
      return StoreRun<float>(lane, count, data, offset, stride);
  }
}

template <>
void Wrap(ScalarType, float*, size_t) {}
template <typename Lane>
void Wrap(ScalarType type, Lane* lane, size_t count) {
  switch (type) {
    case ScalarType::kByte:
      return WrapRun<uint8_t>(lane, count);
    case ScalarType::kChar:
      return WrapRun<int8_t>(lane, count);
    case ScalarType::kShort:
      return WrapRun<int16_t>(lane, count);
    case ScalarType::kInt:
      return WrapRun<int32_t>(lane, count);
    case ScalarType::kBool:
      return WrapRun<bool>(lane, count);
    default:
      return;
  }
}

template void Load(ScalarType, const void*, ptrdiff_t, int32_t, size_t, float*);
template void Load(ScalarType, const void*, ptrdiff_t, int32_t, size_t, int32_t*);
template void Load(ScalarType, const void*, ptrdiff_t, int32_t, size_t, int64_t*);
template void Store(const float*, size_t, ScalarType, void*, ptrdiff_t, int32_t);
template void Store(const int32_t*, size_t, ScalarType, void*, ptrdiff_t, int32_t);
template void Store(const int64_t*, size_t, ScalarType, void*, ptrdiff_t, int32_t);
template void Wrap(ScalarType, int32_t*, size_t);
template void Wrap(ScalarType, int64_t*, size_t);

float LoadFloat(const Tensor& tensor, ptrdiff_t offset) {
  float value;
  Load(tensor.dtype, tensor.data, offset, 1, 1, &value);
  return value;
}

int64_t LoadInt(const Tensor& tensor, ptrdiff_t offset) {
  int64_t value;
  Load(tensor.dtype, tensor.data, offset, 1, 1, &value);
  return value;
}

bool Fits(const Scalar& scalar, ScalarType type) {
  if (IsFloat(type) || type == ScalarType::kBool) return true;
  const int64_t value = ScalarAs<int64_t>(scalar);
  if (type == ScalarType::kByte) return value >= -255 && value <= 255;
  int64_t wrapped = value;
  Wrap(type, &wrapped, 1);
  return wrapped == value;
}

bool ScalarToElement(const Scalar& scalar, ScalarType type, uint64_t& element) {
  if (!Fits(scalar, type)) return false;
  if (IsFloat(type)) {
    const float value = ScalarAs<float>(scalar);
    Store(&value, 1, type, &element, 0, 1);
    return true;
  }
  int64_t value = ScalarAs<int64_t>(scalar);
  if (type == ScalarType::kBool && scalar.tag == Tag::kDouble) value = scalar.as_double != 0;
  Store(&value, 1, type, &element, 0, 1);
  return true;
}

}  // namespace cortex_m::portable
