// Copies of bytes, in fewer instructions than a call of memcpy: most are a pixel or a row of an image. Nothing outside is read or
// written.
#ifndef CORTEX_M_NN_COPY_H_
#define CORTEX_M_NN_COPY_H_

#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "isa.h"

static inline __attribute__((always_inline)) void cortex_m_nn_copy(int8_t *to, const int8_t *from, int32_t count) {
#if CORTEX_M_NN_MVE
  __asm__ volatile(
      "wlstp.8 lr, %[count], 2f\n\t"
      "1: vldrb.8 q0, [%[from]], #16\n\t"
      "vstrb.8 q0, [%[to]], #16\n\t"
      "letp lr, 1b\n\t"
      "2:"
      : [to] "+r"(to), [from] "+r"(from)
      : [count] "r"(count)
      : "lr", "q0", "memory");
#elif CORTEX_M_NN_WORDS
#if CORTEX_M_NN_THUMB2
  for (; count >= 16 && (uintptr_t)to % 4 != 0; --count) {  // then words can be loaded at any address
    *to++ = *from++;
  }
#endif
  if (((uintptr_t)to | (uintptr_t)from) % 4 == 0) {
    if (count >= 32) {
      // clang-format off
      __asm__ volatile("1: ldmia %[from]!, {r3, r4, r5, r6}\n\t"
                       "stmia %[to]!, {r3, r4, r5, r6}\n\t"
                       "ldmia %[from]!, {r3, r4, r5, r6}\n\t"
                       "stmia %[to]!, {r3, r4, r5, r6}\n\t"
                       "cmp %[from], %[end]\n\t"
                       "bne 1b"
                       : [to] "+l"(to), [from] "+l"(from)
                       : [end] "l"(from + count / 32 * 32)
                       : "r3", "r4", "r5", "r6", "cc", "memory");
      // clang-format on
      count %= 32;
    }
#if !CORTEX_M_NN_THUMB2
    for (; count >= 4; count -= 4, to += 4, from += 4) {
      CORTEX_M_NN_STORE_WORD(to, CORTEX_M_NN_LOAD_WORD(from));
    }
#endif
  }
#if CORTEX_M_NN_THUMB2
  if (count >= 16) {
    // clang-format off
    __asm__ volatile("1: ldr r3, [%[from]], #4\n\t"
                     "ldr r4, [%[from]], #4\n\t"
                     "ldr r5, [%[from]], #4\n\t"
                     "ldr r6, [%[from]], #4\n\t"
                     "stmia %[to]!, {r3, r4, r5, r6}\n\t"
                     "cmp %[from], %[end]\n\t"
                     "bne 1b"
                     : [to] "+l"(to), [from] "+l"(from)
                     : [end] "l"(from + count / 16 * 16)
                     : "r3", "r4", "r5", "r6", "cc", "memory");
    // clang-format on
    count %= 16;
  }
  for (; count >= 4; count -= 4, to += 4, from += 4) {
    cortex_m_nn_store_4(to, cortex_m_nn_load_4(from));
  }
#endif
  for (; count > 0; --count) {
    *to++ = *from++;
  }
#else
  memcpy(to, from, (size_t)count);
#endif
}

#endif  // CORTEX_M_NN_COPY_H_
