// What each instruction of a method costs. Apart from the runners' mains, so that only an image that asks has it.
#ifndef CORTEX_M_RUNNER_PROFILE_H_
#define CORTEX_M_RUNNER_PROFILE_H_

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/status.h"

namespace cortex_m {

// Runs the method once, on the inputs that it has, and prints the executed instructions of each call after it, one a line:
//
//   instruction 3 cortex_m::pad: 1234
//
// A jump or a move is called "control". What runs twice in a loop is printed twice.
Status PrintProfile(Method& method);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNNER_PROFILE_H_
