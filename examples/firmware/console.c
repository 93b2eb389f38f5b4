// The console of the boards in cortex_m/boards, and of the host.
#include "console.h"

#include "cortex_m/boards/print.h"

void console_text(const char* text) { print_text(text); }
void console_number(int32_t number) { print_decimal(number); }
void console_hex(uint32_t number) { print_hex(number); }
