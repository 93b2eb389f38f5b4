// What a kernel may rely on when it is called: no argument that the call writes shares a byte with another one, unless the
// operator's record (cortex_m/ops/records.py) says that it may work in place there. So nothing that a kernel has checked changes
// before it is used.
#ifndef CORTEX_M_RUNTIME_VERIFY_CALLS_H_
#define CORTEX_M_RUNTIME_VERIFY_CALLS_H_

#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/verify.h"

namespace cortex_m {

// All calls of a method whose values, instructions and operators are known to be sound. `comparisons`: how many pairs of tensors
// may still be compared. Errors tell the instruction, and the argument that is written.
Status VerifyCalls(const fbs::ExecutionPlan& plan, Budget& comparisons);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_VERIFY_CALLS_H_
