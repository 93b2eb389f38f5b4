// Instructions of the DSP extension; empty for other instruction sets.
#ifndef CORTEX_M_NN_DSP_H_
#define CORTEX_M_NN_DSP_H_

#include "isa.h"

#if CORTEX_M_NN_DSP

#include <stdint.h>
#include <string.h>

// Four int8, at any address.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_load_4(const int8_t *from) {
  uint32_t values;
  memcpy(&values, from, sizeof(values));
  return values;
}

static inline __attribute__((always_inline)) void cortex_m_nn_store_4(int8_t *to, uint32_t values) {
  memcpy(to, &values, sizeof(values));
}

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

// The greater, or the smaller, of each two int8.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_max_4(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
  return result;
}

static inline __attribute__((always_inline)) uint32_t cortex_m_nn_min_4(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b) : "cc");
  return result;
}

#endif  // DSP

#endif  // CORTEX_M_NN_DSP_H_
