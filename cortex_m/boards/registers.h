// System registers of Armv6-M, Armv7-M and Armv8-M that start-up, faults and ticks use (Arm DDI 0419, 0403, 0553).
#ifndef CORTEX_M_BOARDS_REGISTERS_H_
#define CORTEX_M_BOARDS_REGISTERS_H_

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))

#define SYST_CSR REGISTER(0xE000E010u)
#define SYST_RVR REGISTER(0xE000E014u)
#define SYST_CVR REGISTER(0xE000E018u)

#define SCB_ICSR REGISTER(0xE000ED04u)
#define SCB_VTOR REGISTER(0xE000ED08u)
#define SCB_CCR REGISTER(0xE000ED14u)
#define SCB_SHPR3 REGISTER(0xE000ED20u)
#define SCB_SHCSR REGISTER(0xE000ED24u)
#define SCB_CFSR REGISTER(0xE000ED28u)
#define SCB_HFSR REGISTER(0xE000ED2Cu)
#define SCB_MMFAR REGISTER(0xE000ED34u)
#define SCB_BFAR REGISTER(0xE000ED38u)

#define MPU_TYPE REGISTER(0xE000ED90u)
#define MPU_CTRL REGISTER(0xE000ED94u)
#define MPU_RNR REGISTER(0xE000ED98u)
#define MPU_RBAR REGISTER(0xE000ED9Cu)
#define MPU_RASR REGISTER(0xE000EDA0u)  // Armv7-M
#define MPU_RLAR REGISTER(0xE000EDA0u)  // Armv8-M: the same address, another layout
#define MPU_MAIR0 REGISTER(0xE000EDC0u)

// What a core has, from what the compiler was told.
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#define ARMV8M 1
#define MAINLINE 1
#elif defined(__ARM_ARCH_8M_BASE__)
#define ARMV8M 1
#define MAINLINE 0
#elif defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
#define ARMV8M 0
#define MAINLINE 1
#else
#define ARMV8M 0
#define MAINLINE 0
#endif

#endif  // CORTEX_M_BOARDS_REGISTERS_H_
