#include "cortex_m/runtime/target.h"

#include "cortex_m/nn/isa.h"

namespace cortex_m {

const char* NameOfIsa(uint8_t isa) {
  static const char* const kNames[] = {"MVE", "DSP", "SCALAR"};
  return isa <= CORTEX_M_NN_ISA_SCALAR ? kNames[isa] : "any";
}

// A Status carries a literal: one for each pair.
#define EXPORTED(program, core) \
  "the program was exported for a core with " program ", and this one has " core ": export it for this core, or for any"

Status CheckTarget(const Target& target, uint8_t isa) {
  static const char* const kRefusals[3][3] = {
      {"", EXPORTED("MVE", "DSP"), EXPORTED("MVE", "SCALAR")},
      {EXPORTED("DSP", "MVE"), "", EXPORTED("DSP", "SCALAR")},
      {EXPORTED("SCALAR", "MVE"), EXPORTED("SCALAR", "DSP"), ""},
  };
  if (target.isa == kAnyIsa || isa == kAnyIsa || isa == target.isa || isa == target.core_isa) return Status();
  return Status(Code::kUnsupported, kRefusals[target.isa][isa], target.name);
}

#undef EXPORTED

uint8_t CompiledIsa() {
#if defined(__arm__)
  return CORTEX_M_NN_COMPILED_ISA;
#else
  return kAnyIsa;
#endif
}

}  // namespace cortex_m
