// What each instruction of a method computes. Apart from the runners' mains, so that only an image that asks has it.
#ifndef CORTEX_M_RUNNER_TRACE_H_
#define CORTEX_M_RUNNER_TRACE_H_

#include "cortex_m/runtime/method.h"

namespace cortex_m {

// Runs the method once, on the inputs that it has, and writes the tensors that each call has computed behind one another to
// PREFIX-trace.bin, as they lie in memory. Prints one line for each, the instruction and the bytes:
//
//   trace 3 1605632
//
// Prints one sentence, "error: ...", and returns false if that fails.
bool WriteTrace(Method& method, const char* prefix);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNNER_TRACE_H_
