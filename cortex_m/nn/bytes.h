// Four int8 in a word.
#ifndef CORTEX_M_NN_BYTES_H_
#define CORTEX_M_NN_BYTES_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

// At any address.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_load_4(const int8_t *from) {
  uint32_t values;
  memcpy(&values, from, sizeof(values));
  return values;
}

static inline __attribute__((always_inline)) void cortex_m_nn_store_4(int8_t *to, uint32_t values) {
  memcpy(to, &values, sizeof(values));
}

// 1 for cores without MVE, 0 for the host: words of four int8 are what moves data. On Armv6-M and Armv8-M Baseline a word has to be
// aligned: whoever uses these three asks first.
#if defined(__arm__) && !CORTEX_M_NN_MVE
#define CORTEX_M_NN_WORDS 1
#if CORTEX_M_NN_THUMB2
#define CORTEX_M_NN_WORD_IS_AT(address) true
#define CORTEX_M_NN_LOAD_WORD(from) cortex_m_nn_load_4(from)
#define CORTEX_M_NN_STORE_WORD(to, values) cortex_m_nn_store_4(to, values)
#else
#define CORTEX_M_NN_WORD_IS_AT(address) ((uintptr_t)(address) % 4 == 0)
#define CORTEX_M_NN_LOAD_WORD(from) cortex_m_nn_load_4((const int8_t *)__builtin_assume_aligned(from, 4))
#define CORTEX_M_NN_STORE_WORD(to, values) cortex_m_nn_store_4((int8_t *)__builtin_assume_aligned(to, 4), values)
#endif
#else
#define CORTEX_M_NN_WORDS 0
#endif

static inline __attribute__((always_inline)) uint32_t cortex_m_nn_repeat_4(int32_t value) {
  return (uint32_t)(uint8_t)value * 0x01010101u;
}

#if CORTEX_M_NN_DSP

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

#else

// All ones in the bytes where a >= b.
static inline __attribute__((always_inline)) uint32_t cortex_m_nn_not_below_4(uint32_t a, uint32_t b) {
  const uint32_t tops = 0x80808080u;
  const uint32_t differ = a ^ b;                   // in the sign: then the one without it is greater
  const uint32_t rest = (a | tops) - (b & ~tops);  // the other seven bits: a byte never borrows from the next one
  const uint32_t signs = ((b & differ) | (rest & ~differ)) & tops;
  return (signs - (signs >> 7)) | signs;
}

static inline __attribute__((always_inline)) uint32_t cortex_m_nn_max_4(uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & cortex_m_nn_not_below_4(a, b));
}

static inline __attribute__((always_inline)) uint32_t cortex_m_nn_min_4(uint32_t a, uint32_t b) {
  return a ^ ((a ^ b) & cortex_m_nn_not_below_4(a, b));
}

#endif  // DSP

#endif  // CORTEX_M_NN_BYTES_H_
