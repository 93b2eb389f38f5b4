// The device's runtime and kernels as a C library for this machine; program.py is its user.
//
// Strings are UTF-8 and end with a zero. A call that fails writes one sentence to `error`, cut to `error_size` bytes. A program
// is used by one thread at a time; programs are independent of each other.
#ifndef CORTEX_M_HOST_PROGRAM_H_
#define CORTEX_M_HOST_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cortex_m_host_program cortex_m_host_program;

// Copies and verifies the bytes of a .pte, finds the kernels of `method` (null: the first one) and gives it memory. Null if the
// program is refused.
cortex_m_host_program* cortex_m_host_open(const uint8_t* bytes, size_t size, const char* method, char* error,
                                          size_t error_size);
void cortex_m_host_close(cortex_m_host_program* program);

// What is in the program, as program_json.h describes it. Lives as long as the program.
const char* cortex_m_host_json(const cortex_m_host_program* program);

// Runs the method `count` times. inputs[i] and outputs[i] have room for `count` values, one behind the other: a tensor's elements
// in the program's memory order; 8 bytes of an int or a double; 1 of a bool. The caller answers for their number and sizes. A
// number must be the one that the program was exported for.
// Returns the number of runs that ended well; if it is less than `count`, `error` says why.
size_t cortex_m_host_run(cortex_m_host_program* program, size_t count, const uint8_t* const* inputs,
                         uint8_t* const* outputs, char* error, size_t error_size);

// Buffers that the method changes hold again what they hold in the program.
void cortex_m_host_reset(cortex_m_host_program* program);

// Called with each tensor that an instruction has computed, as it lies in memory.
typedef void (*cortex_m_host_written)(void* context, int32_t instruction, const uint8_t* data, size_t bytes);

// As cortex_m_host_run with a count of 1, and tells `written` of all that is computed on the way.
size_t cortex_m_host_trace(cortex_m_host_program* program, const uint8_t* const* inputs, uint8_t* const* outputs,
                           cortex_m_host_written written, void* context, char* error, size_t error_size);

// Names of the operators that there are kernels for, "cortex_m::quantized_add.out"; null behind the last one.
const char* cortex_m_host_kernel(size_t index);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_HOST_PROGRAM_H_
