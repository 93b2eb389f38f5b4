// Runs whatever the bytes are, as a device would that trusts nobody: for fuzzing.
#ifndef CORTEX_M_RUNTIME_TESTING_RUN_ANY_H_
#define CORTEX_M_RUNTIME_TESTING_RUN_ANY_H_

#include <string>
#include <vector>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/program_json.h"
#include "cortex_m/runtime/testing/kernels.h"

namespace cortex_m {

enum class Outcome { kRefused, kNotInitialised, kFailed, kCompleted };

// All operators are testing::touch, which touches each byte of its arguments: an access that the verifier should have
// prevented is one that a sanitizer sees. `names`: the operators that are linked in.
inline Outcome RunAny(const std::string& file, const std::vector<const char*>& names) {
  std::vector<Kernel> kernels;
  for (const char* name : names) kernels.push_back({name, testing::touch});
  LoadedMethod loaded(file, {kernels.data(), kernels.size()});
  if (!loaded.load_status.ok()) return Outcome::kRefused;
  ProgramJson(loaded.program);
  if (!loaded.status.ok()) return Outcome::kNotInitialised;
  if (!loaded.method.Execute(1000).ok()) return Outcome::kFailed;
  for (size_t i = 0; i < loaded.method.output_count(); ++i) {
    const Value output = loaded.method.output(i);
    if (output.tag == Tag::kTensor && output.as_tensor.data != nullptr) testing::Sum(output.as_tensor);
  }
  return Outcome::kCompleted;
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TESTING_RUN_ANY_H_
