// 3x3 windows of four neighbours of a row with stride 1, two output channels at a time: the neighbours share columns, so that six
// pixels of the input and six vectors of weights serve 24 VMLADAVA, where windows that lie apart take 18 loads. Written out for 16,
// 32 and 64 input channels, whose distances are immediate offsets; what follows the sums is as in packed_block_mve.c.
#include <stddef.h>

#include "packed_conv_s8.h"

#if CORTEX_M_NN_MVE

// clang-format off
#define WEIGHTS(q, column, channel) "vldrw.32 " q ", [r9, #(" column " * 32 * CHANNELS + 32 * VECTOR + 16 * " channel ")]\n\t"
// clang-format on
#define PIXEL(q, i) "vldrw.32 " q ", [r1, #(" i " * 16 * CHANNELS + 16 * VECTOR)]\n\t"
#define MAC(sum, x, w) "vmladava.s8 " sum ", " x ", " w "\n\t"

// 16 input channels of a row of the windows. Sums of the four pixels: r0, r2, r4, r6 and r8, r10, r12, lr.
// clang-format off
#define VECTOR_OF_ROW                                                                                              \
  WEIGHTS("q0", "0", "0")                                                                                          \
  PIXEL("q6", "0") MAC("r0", "q6", "q0")                                                                           \
  WEIGHTS("q1", "0", "1") MAC("r8", "q6", "q1")                                                                    \
  PIXEL("q7", "1") MAC("r2", "q7", "q0") MAC("r10", "q7", "q1")                                                    \
  WEIGHTS("q2", "1", "0") MAC("r0", "q7", "q2")                                                                    \
  WEIGHTS("q3", "1", "1") MAC("r8", "q7", "q3")                                                                    \
  PIXEL("q6", "2") MAC("r4", "q6", "q0") MAC("r12", "q6", "q1") MAC("r2", "q6", "q2") MAC("r10", "q6", "q3")       \
  WEIGHTS("q4", "2", "0") MAC("r0", "q6", "q4")                                                                    \
  WEIGHTS("q5", "2", "1") MAC("r8", "q6", "q5")                                                                    \
  PIXEL("q7", "3") MAC("r6", "q7", "q0") MAC("lr", "q7", "q1") MAC("r4", "q7", "q2") MAC("r12", "q7", "q3")        \
  PIXEL("q6", "4") MAC("r2", "q7", "q4") MAC("r10", "q7", "q5") MAC("r6", "q6", "q2") MAC("lr", "q6", "q3")        \
  PIXEL("q7", "5") MAC("r4", "q6", "q4") MAC("r12", "q6", "q5") MAC("r6", "q7", "q4") MAC("lr", "q7", "q5")
// clang-format on

// r7 the quad, r1 a row of pixels, r5 the distance of rows, r9 packed, r11 rows left.
// clang-format off
#define FUNCTION(vectors)                                                    \
  __asm__ volatile(                                                          \
      ".set CHANNELS, " vectors                                              \
      "\n\t"                                                                 \
      "push {r4-r11, lr}\n\t"                                                \
      "vpush {d8-d15}\n\t"                                                   \
      "mov r7, r0\n\t"                                                       \
      "ldr r9, [r7, #80]\n"                                                  \
      "1:\n\t"                                                               \
      "ldrd r1, r5, [r7]\n\t"                                                \
      "movs r0, #0\n\t"                                                      \
      "movs r2, #0\n\t"                                                      \
      "movs r4, #0\n\t"                                                      \
      "movs r6, #0\n\t"                                                      \
      "mov r8, #0\n\t"                                                       \
      "mov r10, #0\n\t"                                                      \
      "mov r12, #0\n\t"                                                      \
      "mov lr, #0\n\t"                                                       \
      "mov r11, #3\n"                                                        \
      "2:\n\t"                                                               \
      ".set VECTOR, 0\n\t"                                                   \
      ".rept CHANNELS\n\t" VECTOR_OF_ROW                                     \
      ".set VECTOR, VECTOR + 1\n\t"                                          \
      ".endr\n\t"                                                            \
      "add r1, r1, r5\n\t"                                                   \
      "add r9, r9, #(96 * CHANNELS)\n\t"                                     \
      "subs r11, #1\n\t"                                                     \
      "bne.w 2b\n\t"                                                         \
      "vmov d0, r0, r2\n\t"                                                  \
      "vmov d2, r8, r10\n\t"                                                 \
      "vmov d1, r4, r6\n\t"                                                  \
      "vmov d3, r12, lr\n\t"                                                 \
      "ldmia r9!, {r0, r2, r4, r6, r8, r10}\n\t"                             \
      "vadd.i32 q0, q0, r0\n\t"                                              \
      "vldrw.32 q4, [r7, #32]\n\t"                                           \
      "vadd.i32 q1, q1, r2\n\t"                                              \
      "vldrw.32 q5, [r7, #48]\n\t"                                           \
      "vshr.s32 q2, q0, #31\n\t"                                             \
      "vldrw.32 q6, [r7, #64]\n\t"                                           \
      "vshr.s32 q3, q1, #31\n\t"                                             \
      "vldrw.32 q7, [r7, #16]\n\t"                                           \
      "vqrdmlah.s32 q2, q0, r4\n\t"                                          \
      "vqrdmlah.s32 q3, q1, r6\n\t"                                          \
      "vrshl.s32 q2, r8\n\t"                                                 \
      "vrshl.s32 q3, r10\n\t"                                                \
      "ldrd r1, r3, [r7, #8]\n\t"                                            \
      "vqmovnb.s32 q0, q2\n\t"                                               \
      "vqmovnt.s32 q0, q3\n\t"                                               \
      "vqadd.s16 q0, q0, q4\n\t"                                             \
      "vmax.s16 q0, q0, q5\n\t"                                              \
      "vmin.s16 q0, q0, q6\n\t"                                              \
      "adds r5, r1, #2\n\t"                                                  \
      "vstrb.16 q0, [r1, q7]\n\t"                                            \
      "str r5, [r7, #8]\n\t"                                                 \
      "cmp r9, r3\n\t"                                                       \
      "bne.w 1b\n\t"                                                         \
      "vpop {d8-d15}\n\t"                                                    \
      "pop {r4-r11, pc}\n\t")
// clang-format on

static __attribute__((naked)) void quad_16(cortex_m_nn_packed_quad *quad) {
  (void)quad;
  FUNCTION("1");
}

static __attribute__((naked)) void quad_32(cortex_m_nn_packed_quad *quad) {
  (void)quad;
  FUNCTION("2");
}

static __attribute__((naked)) void quad_64(cortex_m_nn_packed_quad *quad) {
  (void)quad;
  FUNCTION("4");
}

_Static_assert(offsetof(cortex_m_nn_packed_quad, packed) == 80, "the offsets above");

void cortex_m_nn_packed_quad_mve(cortex_m_nn_packed_quad *quad, int32_t channels) {
  switch (channels) {
    case 16:
      quad_16(quad);
      break;
    case 32:
      quad_32(quad);
      break;
    default:
      quad_64(quad);
      break;
  }
}

#endif  // MVE
