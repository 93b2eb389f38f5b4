// Instruction sets that kernels are written for, and the one this is compiled for.
#ifndef CORTEX_M_NN_ISA_H_
#define CORTEX_M_NN_ISA_H_

// The numbers are part of the exporter's interface (exporter/buffer_sizes.h).
typedef enum {
  CORTEX_M_NN_ISA_MVE = 0,     // Helium, integer
  CORTEX_M_NN_ISA_DSP = 1,     // Armv7E-M, or Armv8-M.main with the DSP extension
  CORTEX_M_NN_ISA_SCALAR = 2,  // anything else, the host included
} cortex_m_nn_isa;

// Of these two at most one is 1: a core with MVE runs the MVE variants, though it has the DSP instructions too.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define CORTEX_M_NN_MVE 1
#define CORTEX_M_NN_DSP 0
#define CORTEX_M_NN_COMPILED_ISA CORTEX_M_NN_ISA_MVE
#elif defined(__ARM_FEATURE_DSP) && (__ARM_FEATURE_DSP == 1)
#define CORTEX_M_NN_MVE 0
#define CORTEX_M_NN_DSP 1
#define CORTEX_M_NN_COMPILED_ISA CORTEX_M_NN_ISA_DSP
#else
#define CORTEX_M_NN_MVE 0
#define CORTEX_M_NN_DSP 0
#define CORTEX_M_NN_COMPILED_ISA CORTEX_M_NN_ISA_SCALAR
#endif

// 1 where the compiler optimises for size: the plain kernels of small_s8.h run, whatever the sizes of a layer.
#if CORTEX_M_NN_MVE && defined(__OPTIMIZE_SIZE__)
#define CORTEX_M_NN_SMALL 1
#else
#define CORTEX_M_NN_SMALL 0
#endif

// 1 for Armv7-M, and for the DSP extension: kernels are written in part in Thumb-2 assembly, and loads take any
// address.
#if CORTEX_M_NN_DSP || defined(__ARM_ARCH_7M__)
#define CORTEX_M_NN_THUMB2 1
#else
#define CORTEX_M_NN_THUMB2 0
#endif

#endif  // CORTEX_M_NN_ISA_H_
