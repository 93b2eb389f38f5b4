// Arm semihosting: requests to the simulator or debugger, "Semihosting for AArch32 and AArch64" (Arm IHI 0102).
//
// platform.h is what programs use; this is below it.
#ifndef CORTEX_M_BOARDS_SEMIHOSTING_H_
#define CORTEX_M_BOARDS_SEMIHOSTING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Opens the console. Before that, platform_write falls back on the debug channel.
void semihosting_start(void);

// Splits the command line at spaces into argv, which stays valid for ever. Returns argc, or -1 if there is no command
// line or it has more arguments or characters than the buffers hold.
int semihosting_arguments(char*** argv);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_BOARDS_SEMIHOSTING_H_
