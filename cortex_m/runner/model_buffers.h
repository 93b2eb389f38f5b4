// What a generated model_config.h needs: included by it, not by anybody else.
#ifndef CORTEX_M_RUNNER_MODEL_BUFFERS_H_
#define CORTEX_M_RUNNER_MODEL_BUFFERS_H_

#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/tensor.h"

// A buffer in the memory that the build chose for the arena (cortex_m/boards/linker.ld.template). On the host any will do.
#if defined(__arm__)
#define CORTEX_M_ARENA alignas(::cortex_m::kDataAlignment) __attribute__((section(".arena")))
#else
#define CORTEX_M_ARENA alignas(::cortex_m::kDataAlignment)
#endif

#endif  // CORTEX_M_RUNNER_MODEL_BUFFERS_H_
