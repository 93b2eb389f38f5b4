// Every exception that nobody asked for ends here: it says what happened, prints the registers and ends the simulator
// with a status of its own (platform.h).
//
//   fault: BusFault, data access to 0x50000000 by the instruction at 0x10000a2c, in instruction 3, cortex_m::pad.out
//
// The handler leaves the stack that may have overflowed before it stores anything.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/boards/registers.h"
#include "cortex_m/boards/startup.h"

enum { kEmergencyWords = 256 };
__attribute__((used, aligned(8))) static uint32_t emergency_stack[kEmergencyWords];

// What the core stores on entry to an exception.
typedef struct {
  uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
} Frame;

enum {
  kNmi = 2,
  kHardFault = 3,
  kMemManage = 4,
  kBusFault = 5,
  kUsageFault = 6,
  kSecureFault = 7,
  kFirstInterrupt = 16
};

static const uint32_t kStackOverflow = 1u << 20;             // CFSR.STKOF
static const uint32_t kStackingFailed = 1u << 4 | 1u << 12;  // MSTKERR, STKERR

__attribute__((weak)) const char* cortex_m_fault_context(int* index) {
  *index = -1;
  return NULL;
}

#if MAINLINE
static const uint32_t kMmfarValid = 1u << 7;
static const uint32_t kBfarValid = 1u << 15;

typedef struct {
  uint32_t bit;
  const char* text;
} Cause;

static const Cause kCauses[] = {
    {0, "instruction fetch from memory that is not code"},
    {1, "data access"},
    {3, "data access on return from an exception"},
    {4, "data access on entry to an exception"},
    {5, "data access while saving floating-point registers"},
    {8, "instruction fetch failed"},
    {9, "data access"},
    {10, "imprecise data access"},
    {11, "data access on return from an exception"},
    {12, "data access on entry to an exception"},
    {13, "data access while saving floating-point registers"},
    {16, "undefined instruction"},
    {17, "not in Thumb state"},
    {18, "invalid return from an exception"},
    {19, "coprocessor, FPU or MVE is absent or disabled"},
    {20, "stack limit"},
    {24, "unaligned access"},
    {25, "division by zero"},
};

static void PrintCause(uint32_t cfsr) {
  for (size_t i = 0; i < sizeof kCauses / sizeof kCauses[0]; ++i) {
    if ((cfsr >> kCauses[i].bit & 1) != 0) {
      print_text(", ");
      print_text(kCauses[i].text);
    }
  }
  if ((cfsr & kMmfarValid) != 0) {
    print_text(" to ");
    print_hex(SCB_MMFAR);
  } else if ((cfsr & kBfarValid) != 0) {
    print_text(" to ");
    print_hex(SCB_BFAR);
  }
}
#endif

static void PrintContext(void) {
  int index = -1;
  const char* name = cortex_m_fault_context(&index);
  if (name == NULL) {
    return;
  }
  print_text(", in instruction ");
  print_decimal(index);
  print_text(", ");
  print_text(name);
}

static void PrintRegister(const char* name, uint32_t value) {
  print_text(name);
  print_hex(value);
}

static void PrintException(uint32_t exception) {
  static const char* const kNames[] = {"",          "",         "NMI",        "HardFault",
                                       "MemManage", "BusFault", "UsageFault", "SecureFault"};
  if (exception < sizeof kNames / sizeof kNames[0]) {
    print_text(kNames[exception]);
    return;
  }
  print_text(exception < kFirstInterrupt ? "unexpected exception " : "unexpected interrupt ");
  print_decimal(exception < kFirstInterrupt ? exception : exception - kFirstInterrupt);
}

static void PrintRegisters(const Frame* frame, bool frame_valid, const uint32_t* high, uint32_t exc_return) {
  if (frame_valid) {
    PrintRegister("  r0  ", frame->r0);
    PrintRegister("  r1  ", frame->r1);
    PrintRegister("  r2  ", frame->r2);
    PrintRegister("  r3  ", frame->r3);
    print_text("\n");
  }
  PrintRegister("  r4  ", high[4]);
  PrintRegister("  r5  ", high[5]);
  PrintRegister("  r6  ", high[6]);
  PrintRegister("  r7  ", high[7]);
  print_text("\n");
  PrintRegister("  r8  ", high[0]);
  PrintRegister("  r9  ", high[1]);
  PrintRegister("  r10 ", high[2]);
  PrintRegister("  r11 ", high[3]);
  print_text("\n");
  if (frame_valid) {
    PrintRegister("  r12 ", frame->r12);
    PrintRegister("  lr  ", frame->lr);
    PrintRegister("  pc  ", frame->pc);
    PrintRegister("  psr ", frame->xpsr);
    print_text("\n");
  }
  PrintRegister("  sp  ", (uint32_t)frame);
  PrintRegister("  exc ", exc_return);
  print_text(frame_valid ? "\n" : "  (the stack could not take the other registers)\n");
#if MAINLINE
  PrintRegister("  CFSR ", SCB_CFSR);
  PrintRegister("  HFSR ", SCB_HFSR);
  PrintRegister("  MMFAR ", SCB_MMFAR);
  PrintRegister("  BFAR ", SCB_BFAR);
  print_text("\n");
#endif
}

__attribute__((noreturn, used)) static void Report(const Frame* frame, uint32_t exc_return, const uint32_t* high) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
#if MAINLINE
  const uint32_t cfsr = SCB_CFSR;
#else
  const uint32_t cfsr = 0;
#endif
  const bool outside = (const uint32_t*)frame < __stack_limit || (const uint32_t*)(frame + 1) > __stack_top;
  const bool limit_hit = (cfsr & kStackOverflow) != 0;
  // When the frame itself hit the limit, the core leaves SP on the limit.
  const bool frame_valid =
      !outside && (cfsr & kStackingFailed) == 0 && !(limit_hit && (const uint32_t*)frame == __stack_limit);
  const bool overflow = limit_hit || (const uint32_t*)frame < __stack_limit;

  print_text("\nfault: ");  // whatever the program was printing
  if (overflow) {
    print_text("the stack of ");
    print_decimal((int64_t)platform_stack_size());
    print_text(" bytes overflowed");
  } else {
    PrintException(exception);
#if MAINLINE
    PrintCause(cfsr);
#endif
  }
  if (frame_valid) {
    PrintRegister(", at pc ", frame->pc);
  }
  PrintContext();
  print_text("\n");
  PrintRegisters(frame, frame_valid, high, exc_return);

  if (overflow) {
    platform_exit(kPlatformExitStackOverflow);
  }
  platform_exit(exception >= kHardFault && exception <= kSecureFault ? kPlatformExitFault
                                                                     : kPlatformExitUnexpectedInterrupt);
}

__attribute__((naked)) void Fault_Handler(void) {
  __asm__ volatile(
      "mrs r0, msp\n\t"  // the frame; nothing here uses PSP
      "mov r1, lr\n\t"
#if ARMV8M && MAINLINE
      "movs r2, #0\n\t"
      "msr msplim, r2\n\t"
#endif
#if defined(__ARM_FP)
      // Floating-point registers whose saving was put off are given up: there may be no stack to save them on.
      "ldr r2, =0xE000EF34\n\t"  // FPCCR
      "ldr r3, [r2]\n\t"
      "bic r3, r3, #1\n\t"  // LSPACT
      "str r3, [r2]\n\t"
#endif
      "ldr r2, =emergency_stack + %c0\n\t"
      "mov sp, r2\n\t"
      "push {r4-r7}\n\t"
      "mov r4, r8\n\t"
      "mov r5, r9\n\t"
      "mov r6, r10\n\t"
      "mov r7, r11\n\t"
      "push {r4-r7}\n\t"
      "mov r2, sp\n\t"
      "bl Report\n\t"
      ".ltorg" ::"i"(kEmergencyWords * 4));
}
