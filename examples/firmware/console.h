// Where the firmware writes: each board has a console.c of its own.
#ifndef EXAMPLES_FIRMWARE_CONSOLE_H_
#define EXAMPLES_FIRMWARE_CONSOLE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void console_text(const char* text);
void console_number(int32_t number);
// "0x" and eight digits.
void console_hex(uint32_t number);

#ifdef __cplusplus
}
#endif

#endif  // EXAMPLES_FIRMWARE_CONSOLE_H_
