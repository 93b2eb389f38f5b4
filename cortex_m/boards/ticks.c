#include "cortex_m/boards/ticks.h"

#include "board_config.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/registers.h"

enum { kPeriod = 1 << 24 };

static const uint32_t kEnable = 1u << 0;
static const uint32_t kInterrupt = 1u << 1;
static const uint32_t kProcessorClock = 1u << 2;
static const uint32_t kSysTickPending = 1u << 26;

static volatile uint32_t wraps;

void ticks_start(void) {
  wraps = 0;
  SYST_RVR = kPeriod - 1;
  SYST_CVR = 0;
  SYST_CSR = kEnable | kInterrupt | kProcessorClock;
}

void SysTick_Handler(void) { wraps = wraps + 1; }

// SysTick counts down and asks for its interrupt on reaching 0: from then on `wraps` has counted the period.
static uint64_t Ticks(void) {
  uint32_t masked;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked)::"memory");
  uint32_t value = SYST_CVR;
  uint64_t periods = wraps;
  if ((SCB_ICSR & kSysTickPending) != 0) {  // wrapped, maybe since the value was read
    value = SYST_CVR;
    periods += 1;
  }
  __asm__ volatile("msr primask, %0" ::"r"(masked) : "memory");
  return periods * kPeriod + (value == 0 ? 0u : kPeriod - value);
}

uint64_t ticks_instructions(void) {
  return Ticks() * BOARD_INSTRUCTIONS_PER_TICK_NUMERATOR / BOARD_INSTRUCTIONS_PER_TICK_DENOMINATOR;
}

uint64_t platform_instructions(void) { return ticks_instructions(); }
