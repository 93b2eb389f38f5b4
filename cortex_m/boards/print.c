#include "cortex_m/boards/print.h"

#include <string.h>

#include "cortex_m/boards/platform.h"

void print_text(const char* text) { platform_write(text, strlen(text)); }

void print_decimal(int64_t value) {
  char digits[20];  // 2^63 has 19, and a sign
  char* const end = digits + sizeof digits;
  char* first = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--first = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) {
    *--first = '-';
  }
  platform_write(first, (size_t)(end - first));
}

void print_hex(uint32_t value) {
  char text[10] = {'0', 'x'};
  for (int i = 0; i < 8; ++i) {
    text[2 + i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 15];
  }
  platform_write(text, sizeof text);
}
