// Instructions of the DSP extension; empty for other instruction sets.
#ifndef CORTEX_M_NN_DSP_H_
#define CORTEX_M_NN_DSP_H_

#include "isa.h"

#if CORTEX_M_NN_DSP

#include <stdint.h>

#include "bytes.h"

// Bytes 0 and 2, sign-extended to 16 bits, plus the halfwords of `added`.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_even_bytes_plus(uint32_t values, uint32_t added) {
  uint32_t result;
  __asm__("sxtab16 %0, %1, %2" : "=r"(result) : "r"(added), "r"(values));
  return result;
}

// Bytes 1 and 3.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_odd_bytes_plus(uint32_t values, uint32_t added) {
  uint32_t result;
  __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(added), "r"(values));
  return result;
}

// sum + a.low * b.low + a.high * b.high
static inline __attribute__((always_inline)) int32_t cortex_m_nn_smlad(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

// sum + a.low * b.low
static inline __attribute__((always_inline)) int32_t cortex_m_nn_smlabb(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__("smlabb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

// sum + a.high * b.high
static inline __attribute__((always_inline)) int32_t cortex_m_nn_smlatt(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__("smlatt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

#endif  // DSP

#endif  // CORTEX_M_NN_DSP_H_
