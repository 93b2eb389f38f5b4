// A model that is part of the image, made ready to run: what the code that the build generates for it hands over.
//
//   Status status = Program::Load(model.program, state.program);      // or LoadVerifiedAtBuild
//   if (status.ok()) status = Start(model, state.program, state.storage.buffers(), state.method);
#ifndef CORTEX_M_RUNTIME_EMBEDDED_H_
#define CORTEX_M_RUNTIME_EMBEDDED_H_

#include <cstdint>

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/pool.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

struct EmbeddedModel {
  Span<const uint8_t> program;   // the .pte, aligned to kDataAlignment
  const char* method = nullptr;  // null for the first
  KernelTable kernels;
  Span<const Span<uint8_t>> planned;  // as for Method::Init
  bool verified_at_build = false;  // for LoadVerifiedAtBuild: the buffers have the sizes that Measure() said at build
  Span<uint8_t> unplanned;         // for inputs and outputs that the exporter did not plan; aligned to kDataAlignment
};

// Gives memory from `pool` to the input and output tensors that the exporter did not plan. Errors: kResourceExhausted.
Status BindUnplanned(Method& method, Pool& pool);

// Initialises `method` of the loaded program. Errors: those of Method::Init and BindUnplanned.
// Inline: where the compiler knows that nothing is unplanned, or nothing is to be measured, the linker leaves out what does it.
inline Status Start(const EmbeddedModel& model, const Program& program, const MethodBuffers& buffers, Method& method) {
  CORTEX_M_RETURN_IF_ERROR(model.verified_at_build
                               ? method.InitMeasured(program, model.method, model.kernels, buffers, model.planned)
                               : method.Init(program, model.method, model.kernels, buffers, model.planned));
  if (model.unplanned.size == 0) return Status();
  Pool pool(model.unplanned);
  return BindUnplanned(method, pool);
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_EMBEDDED_H_
