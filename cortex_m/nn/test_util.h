// For the tests of the kernels: deterministic inputs, guarded buffers, and the rounding rules again, from their definition
// with exact integers, not from the code under test.
#ifndef CORTEX_M_NN_TEST_UTIL_H_
#define CORTEX_M_NN_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace cortex_m_nn_test {

// floor(a / b), b > 0
inline __int128 FloorDivide(__int128 a, __int128 b) { return a / b - (a % b < 0 ? 1 : 0); }

// a / 2^bits, halves towards plus infinity
inline int64_t DivideHalvesUp(__int128 a, int bits) {
  const __int128 unit = static_cast<__int128>(1) << bits;
  return static_cast<int64_t>(FloorDivide(2 * a + unit, 2 * unit));
}

// a / 2^bits, halves away from zero
inline int64_t DivideHalvesAway(__int128 a, int bits) {
  return a < 0 ? -DivideHalvesUp(-a, bits) : DivideHalvesUp(a, bits);
}

// The requantization contract (docs/numerics.md) over the integers; the tests stay where nothing wraps.
inline int64_t Requantize(int64_t value, int32_t multiplier, int32_t shift) {
  const __int128 shifted = static_cast<__int128>(value) * (int64_t{1} << (shift > 0 ? shift : 0));
  return DivideHalvesAway(DivideHalvesUp(shifted * multiplier, 31), shift > 0 ? 0 : -shift);
}

inline int64_t Clamp(int64_t value, int64_t min, int64_t max) { return value < min ? min : value > max ? max : value; }

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int32_t Between(int32_t low, int32_t high) {  // both included; the same on every standard library
    return static_cast<int32_t>(low + static_cast<int64_t>(engine_() % (static_cast<int64_t>(high) - low + 1)));
  }
  std::vector<int8_t> Bytes(size_t count, int32_t low = -128, int32_t high = 127) {
    std::vector<int8_t> values(count);
    for (int8_t& value : values) value = static_cast<int8_t>(Between(low, high));
    return values;
  }
  std::vector<int32_t> Words(size_t count, int32_t low, int32_t high) {
    std::vector<int32_t> values(count);
    for (int32_t& value : values) value = Between(low, high);
    return values;
  }

 private:
  std::mt19937 engine_;
};

// A buffer between guard bytes; a kernel that writes outside is found out.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kGuard, kPattern) {}
  int8_t* data() { return reinterpret_cast<int8_t*>(memory_.data() + kGuard); }
  std::vector<int8_t> values() { return std::vector<int8_t>(data(), data() + bytes_); }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != kPattern || memory_[kGuard + bytes_ + i] != kPattern) return false;
    }
    return true;
  }
  bool untouched() const {
    for (uint8_t byte : memory_) {
      if (byte != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kPattern = 0xA5;
  size_t bytes_;
  std::vector<uint8_t> memory_;
};

// A test that mostly expects the limits of the range proves nothing.
inline void ExpectMostlyInsideRange(const std::vector<int8_t>& expected, int32_t min = -128, int32_t max = 127) {
  size_t rails = 0;
  for (int8_t value : expected) rails += value <= min || value >= max;
  EXPECT_LE(2 * rails, expected.size()) << "more than half of the expected outputs saturate";
}

// A multiplier and shift whose factor brings sums of `depth` products of two uniform int8 values (standard deviation
// sqrt(depth) * 74^2) to a standard deviation of about 40.
struct Factor {
  int32_t multiplier;
  int32_t shift;
};
inline Factor FactorForDepth(Random& random, double depth) {
  const double target = 40.0 / (5500.0 * std::sqrt(depth)) * (0.7 + 0.6 * random.Between(0, 1000) / 1000.0);
  int exponent = 0;
  const double mantissa = std::frexp(target, &exponent);
  return {static_cast<int32_t>(mantissa * 2147483647.0), exponent};
}

}  // namespace cortex_m_nn_test

#endif  // CORTEX_M_NN_TEST_UTIL_H_
