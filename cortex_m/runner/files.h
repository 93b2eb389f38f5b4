// Inputs and outputs of a method as files of the host, and what the runners print.
//
// A tensor's file holds its elements as they lie in memory (for a channels-last tensor: N, H, W, C), nothing else. An
// input that is a number has 8 bytes (int64 or double) or 1 (bool).
//
// Functions that return bool print one sentence, "error: ...", and a newline before they return false.
#ifndef CORTEX_M_RUNNER_FILES_H_
#define CORTEX_M_RUNNER_FILES_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/pool.h"
#include "cortex_m/runtime/status.h"

namespace cortex_m {

// A name out of a program, which may be anything: cut to a sane length, with '?' for what is not printable ASCII.
void PrintName(const char* name);
// "error: MESSAGE (OPERATOR, instruction N, argument M)", as far as the status knows them.
void PrintError(const Status& status);
// "error: MESSAGE SUBJECT".
void PrintError(const char* message, const char* subject);
// "KEY: VALUE".
void PrintValue(const char* key, uint64_t value);

// Bytes of one whole file, taken from `pool`.
bool ReadFile(const char* path, Pool& pool, Span<uint8_t>& bytes);

// One file for each input; the length of each must be that of its tensor.
bool ReadInputs(Method& method, const char* const* paths, size_t count);

// Writes output i to PREFIX-i.bin.
bool WriteOutputs(const Method& method, const char* prefix);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNNER_FILES_H_
