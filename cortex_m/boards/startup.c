// Boot sequence
//
//  1. The core loads SP from vector 0 (the top of the stack; the stack is at the bottom of its memory) and jumps to
//     Reset_Handler, vector 1.
//  2. MSPLIM is set to the bottom of the stack, where there is one (Armv8-M Mainline): an overflow faults at once.
//  3. FPU and MVE are enabled in CPACR, before the first instruction that needs them: compiled C may use them to copy
//     memory. FPDSCR.LTPSIZE = 4 (no tail predication) and automatic state preservation stay as reset leaves them; the
//     loop branch cache is enabled where there is one (CCR.LOB).
//  4. .data is copied from its load address, .bss is zeroed. .arena, .pool and the stack are not touched: programs
//     initialise what they read.
//  5. The unused stack is painted, so that platform_stack_used() finds how deep it went.
//  6. VTOR points to the vectors; MemManage, BusFault and UsageFault are told apart; dividing by zero faults.
//  7. The MPU allows what the board's memory map says and nothing else (mpu.c).
//  8. Console and instruction counter start.
//  9. Constructors: .preinit_array, .init_array.
// 10. main(argc, argv); what it returns is the exit status. Destructors of static objects never run.
#include "cortex_m/boards/startup.h"

#include <stddef.h>
#include <string.h>

#include "board_config.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/boards/registers.h"
#include "cortex_m/boards/semihosting.h"
#include "cortex_m/boards/ticks.h"

extern uint32_t __data_load[], __data_start[], __data_end[];
extern uint32_t __bss_start[], __bss_end[];
extern uint8_t __pool_start[], __pool_end[];

typedef void (*Function)(void);
extern const Function __preinit_array_start[], __preinit_array_end[];
extern const Function __init_array_start[], __init_array_end[];

int main(int argc, char** argv);

static const uint32_t kPaint = 0xC0DEC0DEu;

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16 + BOARD_INTERRUPTS] = {
    [0] = (uintptr_t)__stack_top,
    [1] = (uintptr_t)Reset_Handler,
    [2 ... 14] = (uintptr_t)Fault_Handler,
    [15] = (uintptr_t)SysTick_Handler,
    [16 ... 15 + BOARD_INTERRUPTS] = (uintptr_t)Fault_Handler,
};

__attribute__((noreturn, used, section(".text.boot"))) static void Boot(void) {
  memcpy(__data_start, __data_load, (size_t)((uint8_t*)__data_end - (uint8_t*)__data_start));
  memset(__bss_start, 0, (size_t)((uint8_t*)__bss_end - (uint8_t*)__bss_start));

  // volatile: the compiler must not make a call of memset out of this, whose frame would lie in what is painted.
  const volatile uint32_t* const used = __builtin_frame_address(0);
  for (volatile uint32_t* word = __stack_limit; word < used - 16; ++word) {
    *word = kPaint;
  }

  SCB_VTOR = (uint32_t)__vectors_start;
#if MAINLINE
  SCB_SHCSR |= 7u << 16;  // USGFAULTENA, BUSFAULTENA, MEMFAULTENA
  SCB_CCR |= 1u << 4;     // DIV_0_TRP
#endif
  SCB_SHPR3 |= 0xFFu << 24;  // SysTick yields to everything
  mpu_start();

  semihosting_start();
  ticks_start();

  for (const Function* f = __preinit_array_start; f < __preinit_array_end; ++f) {
    (*f)();
  }
  for (const Function* f = __init_array_start; f < __init_array_end; ++f) {
    (*f)();
  }

  char** argv;
  const int argc = semihosting_arguments(&argv);
  if (argc < 0) {
    print_text("error: the command line is too long\n");
    platform_exit(1);
  }
  platform_exit(main(argc, argv));
}

__attribute__((naked, section(".text.boot"))) void Reset_Handler(void) {
  __asm__ volatile(
#if ARMV8M && MAINLINE
      "ldr r0, =__stack_limit\n\t"
      "msr msplim, r0\n\t"
#endif
#if MAINLINE
      "ldr r0, =0xE000ED88\n\t"  // CPACR: full access to coprocessors 10 and 11, which are FPU and MVE
      "ldr r1, [r0]\n\t"
      "orr r1, r1, #(0xF << 20)\n\t"
      "str r1, [r0]\n\t"
#if defined(__ARM_FEATURE_MVE)
      "ldr r0, =0xE000ED14\n\t"  // CCR.LOB
      "ldr r1, [r0]\n\t"
      "orr r1, r1, #(1 << 19)\n\t"
      "str r1, [r0]\n\t"
#endif
      "dsb\n\t"
      "isb\n\t"
#endif
      "bl Boot\n\t"
      ".ltorg");
}

size_t platform_stack_size(void) { return (size_t)((uint8_t*)__stack_top - (uint8_t*)__stack_limit); }

size_t platform_stack_used(void) {
  const uint32_t* word = __stack_limit;
  while (word < __stack_top && *word == kPaint) {
    ++word;
  }
  return (size_t)((uint8_t*)__stack_top - (const uint8_t*)word);
}

PlatformPool platform_pool(void) {
  const PlatformPool pool = {__pool_start, (size_t)(__pool_end - __pool_start)};
  return pool;
}

const char* platform_name(void) { return BOARD_NAME; }

// What the C and C++ libraries would bring along with stdio and a heap.

void abort(void);
__attribute__((noreturn)) void abort(void) {
  print_text("\nfault: abort() was called\n");
  platform_exit(kPlatformExitAbort);
}

void __cxa_pure_virtual(void);
__attribute__((noreturn)) void __cxa_pure_virtual(void) {
  print_text("\nfault: a pure virtual function was called\n");
  platform_exit(kPlatformExitAbort);
}

int __aeabi_atexit(void* object, void (*destroy)(void*), void* dso);
int __aeabi_atexit(void* object, void (*destroy)(void*), void* dso) {
  (void)object;
  (void)destroy;
  (void)dso;
  return 0;
}

void* __dso_handle;
