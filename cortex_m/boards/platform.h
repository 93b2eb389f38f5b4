// What a program needs from the board it runs on: console, files, arguments, exit, an instruction counter.
//
//   int main(int argc, char** argv) {
//     PlatformFile file = platform_open(argv[1], kPlatformRead);
//     if (file < 0) { print_text("cannot open "); print_line(argv[1]); return 1; }
//     ...
//   }
//
// Implemented on bare metal by semihosting (every simulated board) and on POSIX (cortex_m/boards/host), so that the same
// `main` builds for both. Nothing here allocates.
#ifndef CORTEX_M_BOARDS_PLATFORM_H_
#define CORTEX_M_BOARDS_PLATFORM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Exit statuses of the platform itself; a program's own statuses are below 120.
enum {
  kPlatformExitFault = 120,                // HardFault, MemManage, BusFault, UsageFault, SecureFault
  kPlatformExitStackOverflow = 121,        // one of these, caused by a stack that is too small
  kPlatformExitUnexpectedInterrupt = 122,  // an interrupt or exception that nobody asked for
  kPlatformExitAbort = 123,                // abort(), a pure virtual call
};

// ---- Console -------------------------------------------------------------------------------------------------------

void platform_write(const char* text, size_t size);

// Ends the program (on a simulator: the simulator) with `status`.
__attribute__((noreturn)) void platform_exit(int status);

// ---- Files of the host ---------------------------------------------------------------------------------------------

typedef int PlatformFile;  // negative: could not be opened

typedef enum {
  kPlatformRead,
  kPlatformWrite,  // creates or empties the file
} PlatformMode;

// `name` is relative to the working directory of the simulator.
PlatformFile platform_open(const char* name, PlatformMode mode);
// Bytes in the file, or -1.
int64_t platform_length(PlatformFile file);
// Reads up to `size` bytes; fewer at the end of the file or on an error. Returns the number read.
size_t platform_read(PlatformFile file, void* buffer, size_t size);
// Returns true if all bytes were written.
bool platform_write_file(PlatformFile file, const void* data, size_t size);
bool platform_close(PlatformFile file);

// ---- Measurement ---------------------------------------------------------------------------------------------------

// Instructions executed since start-up. Under QEMU's -icount exact to the resolution of SysTick (at most two
// instructions) plus the few of the reading itself; not a count of cycles. Always 0 on the host, where nothing counts.
uint64_t platform_instructions(void);

// Deepest use of the stack so far, in bytes, by the paint that is gone; 0 on the host.
size_t platform_stack_used(void);
size_t platform_stack_size(void);

// ---- Memory --------------------------------------------------------------------------------------------------------

// The part of the board's large memory that the linker left free, 16-byte aligned.
typedef struct {
  uint8_t* start;
  size_t size;
} PlatformPool;
PlatformPool platform_pool(void);

// Folder name of the board: "mps3_an547", "host".
const char* platform_name(void);

// ---- Provided by the program, if it wants to ------------------------------------------------------------------------

// What the program was doing, for the report of a fault: the name of the operator that was running and, in `index`, its
// number in the program; null if none. Must work with any memory corrupted: it may only read.
const char* cortex_m_fault_context(int* index);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_BOARDS_PLATFORM_H_
