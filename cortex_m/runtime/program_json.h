// What is in a program, as JSON for the build and for people. Host only.
//
//   {"file_bytes": 9376, "flatbuffer_bytes": 8008, "segment_bytes": 1312, "constant_bytes": 1312,
//    "target": {"core": "cortex-m55", "instruction_set": "MVE"},     // or "any" and "any"; null if the program does not say
//    "methods": [{
//      "name": "forward",
//      "sizes": {"operators": 8, "slots": 0, "arguments": 14, "integers": 6, "tensors": 0, "tensor_pointers": 0},
//      "planned_bytes": [5488],                                      // memory ids 1, 2, ...
//      "state_bytes": 0,                                             // of these, what lasts from one run to the next
//      "operators": ["cortex_m::quantize_per_tensor.out", ...],      // those that instructions call, each once
//      "instructions": [{"index": 0, "kind": "kernel", "operator": "...", "source": "model.py:12"}, ...],
//      "inputs":  [{"value": 30, "type": "tensor", "dtype": "float", "sizes": [1, 3, 8, 8], "dim_order": [0, 1, 2, 3],
//                   "nbytes": 768, "memory_id": 1, "offset": 0}],    // memory_id 0: the caller provides the memory
//      "outputs": [...]}]}
//
// constant_bytes: the segment of constants, segment_bytes: all segments. "source" is there if the program was exported with
// emit_stacktrace. An input or output that is a number has only "value" and "type" (int, bool, double, none).
#ifndef CORTEX_M_RUNTIME_PROGRAM_JSON_H_
#define CORTEX_M_RUNTIME_PROGRAM_JSON_H_

#include <string>

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/status.h"

namespace cortex_m {

// `program` must come from Program::Load.
std::string ProgramJson(const Program& program);

// "a tensor lies outside its planned memory (value 12)"
std::string ToSentence(const Status& status);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_PROGRAM_JSON_H_
