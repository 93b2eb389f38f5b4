// The operators that are linked into a runner.
#ifndef CORTEX_M_RUNNER_KERNELS_H_
#define CORTEX_M_RUNNER_KERNELS_H_

#include "cortex_m/runtime/kernel.h"

namespace cortex_m {

// Defined by the library of operators that a runner is linked with: all of them, or the ones a model needs.
KernelTable LinkedKernels();

}  // namespace cortex_m

#endif  // CORTEX_M_RUNNER_KERNELS_H_
