// Symbols that the linker script defines and start-up, faults and ticks share.
#ifndef CORTEX_M_BOARDS_STARTUP_H_
#define CORTEX_M_BOARDS_STARTUP_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint32_t __vectors_start[];
extern uint32_t __vectors_end[];  // a power of two away
extern uint32_t __stack_limit[];
extern uint32_t __stack_top[];

void Reset_Handler(void);
void Fault_Handler(void);  // every exception but Reset and SysTick; faults.c

void mpu_start(void);  // mpu.c

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_BOARDS_STARTUP_H_
