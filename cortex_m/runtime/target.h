// What a program was exported for, and whether this core is that.
//
// A program for one core has scratch buffers of the sizes that its kernels want there; on a core with another instruction set
// it would run with slower kernels, or not at all. So it is refused there, in one sentence, before anything else happens. A
// program for any core, and one that does not say (another exporter's), is run.
#ifndef CORTEX_M_RUNTIME_TARGET_H_
#define CORTEX_M_RUNTIME_TARGET_H_

#include <cstdint>

#include "cortex_m/runtime/status.h"

namespace cortex_m {

constexpr uint8_t kAnyIsa = 255;

struct Target {
  const char* name = nullptr;  // "cortex-m55" or "any", in the file; null for a program that does not say
  uint8_t isa = kAnyIsa;       // cortex_m_nn_isa
  uint8_t core_isa =
      kAnyIsa;  // the widest of the core that was named, where the exporter was told to use a narrower one
};

// "MVE", "DSP", "SCALAR" or "any".
const char* NameOfIsa(uint8_t isa);
// Of the core this is compiled for; kAnyIsa for the host, which runs every program.
uint8_t CompiledIsa();
// Whether a core with this instruction set runs the program.
Status CheckTarget(const Target& target, uint8_t isa);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TARGET_H_
