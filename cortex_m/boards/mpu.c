// The memory map, enforced: code and constants cannot be written, RAM cannot be executed, and all that is not memory of
// the board faults, a null pointer included. Without a background region: no access is right by default.
#include "board_config.h"
#include "cortex_m/boards/registers.h"
#include "cortex_m/boards/startup.h"

typedef struct {
  uint32_t origin;
  uint32_t length;
  uint32_t executable;  // and read-only; the others are writable and never executed
} Memory;

static const Memory kMemories[] = {BOARD_MEMORIES};
enum { kMemoryCount = sizeof kMemories / sizeof kMemories[0] };

#if ARMV8M

static void SetRegion(uint32_t number, const Memory* memory) {
  const uint32_t access = memory->executable ? 3u << 1 : 1u << 1;  // AP: read-only or read-write, at any privilege
  MPU_RNR = number;
  MPU_RBAR = memory->origin | access | (memory->executable ? 0u : 1u);  // XN
  MPU_RLAR = ((memory->origin + memory->length - 1) & ~31u) | 1u;       // attribute 0, enabled
}

#else

static const uint32_t kReadWrite = 3u << 24;
static const uint32_t kReadOnly = 6u << 24;
static const uint32_t kNoAccess = 0;

static uint32_t Log2(uint32_t value) {
  uint32_t log = 0;
  while ((value >>= 1) != 0) {
    ++log;
  }
  return log;
}

static void SetRasr(uint32_t number, uint32_t origin, uint32_t length, uint32_t access) {
  MPU_RNR = number;
  MPU_RBAR = origin;
  const uint32_t normal = MAINLINE ? 1u << 19 | 3u << 16 : 3u << 16;  // write-back: TEX 1, C, B; Armv6-M has no TEX
  MPU_RASR = access | normal | ((Log2(length) - 1) << 1) | 1u;
}

static void SetRegion(uint32_t number, const Memory* memory) {
  SetRasr(number, memory->origin, memory->length, memory->executable ? kReadOnly : kReadWrite | 1u << 28);
}

#endif

void mpu_start(void) {
  const uint32_t regions = MPU_TYPE >> 8 & 0xFF;
  if (regions < kMemoryCount + 1u) {
    return;  // no MPU; it is optional
  }
#if ARMV8M
  MPU_MAIR0 = 0xFF;  // attribute 0: normal, write-back, allocating
#endif
  for (uint32_t i = 0; i < kMemoryCount; ++i) {
    SetRegion(i, &kMemories[i]);
  }
#if !ARMV8M
  // Where code begins at 0 the vectors, which the core reads without the MPU, are what a null pointer points to. A region
  // of a higher number wins.
  if (kMemories[0].origin == 0) {
    SetRasr(kMemoryCount, 0, (uint32_t)__vectors_end - (uint32_t)__vectors_start, kNoAccess | 1u << 28);
  }
#endif
  __asm__ volatile("dsb" ::: "memory");
  MPU_CTRL = 1u;  // enabled, not in HardFault and NMI, no background region
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}
