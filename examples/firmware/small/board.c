// Start-up and serial port of the MPS3 with the image AN547 (Arm DAI 0547), a Cortex-M55: all that this firmware needs of it.
#include "board.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern unsigned char data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
extern void stack_top(void);
int main(void);
void reset(void);

// CMSDK UART (Arm DDI 0479); UART0 in its Secure alias.
typedef struct {
  volatile uint32_t data, state, control, interrupts, divisor;
} Uart;
static Uart* const uart = (Uart*)0x59303000;
enum { kTransmitterFull = 1, kReceiverFull = 2, kBoth = 3, kDivisor = 217 };  // 25 MHz, 115,200 baud

// Stays where it is: a debugger finds the cause in the registers.
static void fault(void) {
  for (;;) {
  }
}

// No interrupt is enabled.
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    [0] = stack_top, [1] = reset, [2 ... 15] = fault};

void reset(void) {
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20;  // CPACR: FPU and Helium
  *(volatile uint32_t*)0xE000ED14 |= 1u << 19;    // CCR.LOB: the cache of loop branches
  __asm__ volatile("dsb\n\tisb");
  memcpy(data_begin, data_load, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  uart->divisor = kDivisor;
  uart->control = kBoth;
  main();
  fault();
}

unsigned char serial_read(void) {
  while ((uart->state & kReceiverFull) == 0) {
  }
  return (unsigned char)uart->data;
}

void serial_write(char byte) {
  while ((uart->state & kTransmitterFull) != 0) {
  }
  uart->data = (unsigned char)byte;
}
