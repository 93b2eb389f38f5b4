// Start-up and console of the MPS2 with the image AN386, a Cortex-M4. The console is the debugger's (semihosting).
#include <string.h>

#include "console.h"

extern unsigned char data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
extern void stack_top(void);
int main(void);
void reset(void);

// Arm IHI 0102, semihosting.
enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_EXIT_EXTENDED = 0x20 };

static int call_debugger(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void stop(unsigned status) {
  const unsigned block[] = {0x20026, status};
  for (;;) {
    call_debugger(SYS_EXIT_EXTENDED, block);
  }
}

static void fault(void) {
  console_text("fault\n");
  stop(120);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    [0] = stack_top, [1] = reset, [2 ... 15] = fault};

void reset(void) {
  *(volatile unsigned*)0xE000ED88 |= 0xFu << 20;  // CPACR: the FPU
  __asm__ volatile("dsb\n\tisb");
  memcpy(data_begin, data_load, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  stop((unsigned)main());
}

void console_text(const char* text) {
  static int console = -1;
  if (console < 0) {
    const uintptr_t name[] = {(uintptr_t)":tt", 4, 3};  // for writing; 3 characters
    console = call_debugger(SYS_OPEN, name);
  }
  const uintptr_t block[] = {(uintptr_t)console, (uintptr_t)text, strlen(text)};
  call_debugger(SYS_WRITE, block);
}

void console_number(int32_t number) {
  char digits[12];
  char* first = digits + sizeof digits;
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  *--first = '\0';
  do {
    *--first = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) {
    *--first = '-';
  }
  console_text(first);
}

void console_hex(uint32_t number) {
  char text[11] = "0x";
  for (int i = 0; i < 8; ++i) {
    text[2 + i] = "0123456789abcdef"[(number >> (28 - 4 * i)) & 15];
  }
  text[10] = '\0';
  console_text(text);
}
