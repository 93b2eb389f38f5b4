// Text and numbers to the console, without stdio.
//
//   print_text("instructions: "); print_decimal(platform_instructions()); print_text("\n");
#ifndef CORTEX_M_BOARDS_PRINT_H_
#define CORTEX_M_BOARDS_PRINT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void print_text(const char* text);
void print_decimal(int64_t value);
// "0x" and eight digits.
void print_hex(uint32_t value);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_BOARDS_PRINT_H_
