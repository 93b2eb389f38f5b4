#include "toolchains/arm_none_eabi/test/sample.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace {

struct Counter {
  explicit Counter(int start) : calls(start) {}
  ~Counter() { calls = -1; }
  int calls;
};

Counter& TheCounter() {
  static Counter counter(1);
  return counter;
}

}  // namespace

int sample_sum(int n) {
  std::array<int32_t, 16> values{};
  std::iota(values.begin(), values.end(), TheCounter().calls++);
  return std::accumulate(values.begin(), values.begin() + std::min(n, 16), 0);
}

float sample_scale(float x) { return x * 1.5f + 0.25f; }

const char* sample_place() { return __FILE__ " " __DATE__ " " __TIME__; }

int sample_unused() { return 42; }
