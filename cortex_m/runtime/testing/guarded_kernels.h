// Kernels with a guard around each call: while one runs, memory that is none of its arguments is forbidden (AddressSanitizer), and
// what comes of its calls is counted.
#ifndef CORTEX_M_RUNTIME_TESTING_GUARDED_KERNELS_H_
#define CORTEX_M_RUNTIME_TESTING_GUARDED_KERNELS_H_

#include <cstdint>
#include <vector>

#include "cortex_m/runtime/kernel.h"

namespace cortex_m {

struct KernelCount {
  const char* name = "";
  uint64_t calls = 0;
  uint64_t ok = 0;
};

// `kernels` as kernels that are guarded; once in a program.
KernelTable Guarded(KernelTable kernels);

// What is forbidden during calls from now on, but for their arguments: planned memories and the program's segments.
void GuardMemories(std::vector<Span<const uint8_t>> memories);

const std::vector<KernelCount>& KernelCounts();

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TESTING_GUARDED_KERNELS_H_
