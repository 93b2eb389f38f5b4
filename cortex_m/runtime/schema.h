// executorch's program.fbs as C++ accessors, made by flatc. Included by the runtime's sources only: users of the runtime need
// no flatbuffers headers.
#ifndef CORTEX_M_RUNTIME_SCHEMA_H_
#define CORTEX_M_RUNTIME_SCHEMA_H_

// On the device a failed assert would pull in stdio; what the asserts would catch, the verifier refuses. The host keeps them.
#if defined(__arm__)
#define FLATBUFFERS_ASSERT(condition) ((void)0)
#endif

#include "cortex_m/runtime/program_generated.h"

namespace cortex_m {

namespace fbs = executorch_flatbuffer;

// The number of items of a flatbuffer vector or string; an absent one is empty.
template <typename Vector>
size_t SizeOf(const Vector* vector) {
  return vector == nullptr ? 0 : vector->size();
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_SCHEMA_H_
