// Counts instructions with SysTick, which every Cortex-M of the table has.
//
//   ticks_start();
//   const uint64_t before = ticks_instructions();
//   Work();
//   const uint64_t spent = ticks_instructions() - before;
//
// QEMU's -icount gives each instruction a fixed length in virtual time, so ticks of the processor clock are a fixed
// fraction of instructions, the same in every run. The fraction is the board's (board.bzl). SysTick has 24 bits: an
// interrupt counts its wraps and costs a few dozen instructions in each 16.8 million ticks.
#ifndef CORTEX_M_BOARDS_TICKS_H_
#define CORTEX_M_BOARDS_TICKS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void ticks_start(void);
uint64_t ticks_instructions(void);

void SysTick_Handler(void);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_BOARDS_TICKS_H_
