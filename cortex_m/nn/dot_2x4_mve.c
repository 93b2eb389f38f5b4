// Sums of products of four rows of weights with two columns of activations, 16 at a time: six loads serve eight
// VMLADAVA, the most that the register file allows, for VMLADAV adds to even core registers only. All eight of them
// hold sums (lr too, so no low-overhead loop), five odd ones are pointers, one counts. The compiler does not find this
// allocation, hence assembly. The steps are four times unrolled; the first pass enters in their midst to get the count
// right.
#include "dot_2x4_mve.h"

#include "mve.h"

#if CORTEX_M_NN_MVE

// x0, x1: how the next 16 values of either column are loaded. Loads and multiplications alternate: on Cortex-M55 they
// overlap.
// clang-format off
#define STEP(mac, x0, x1)         \
  x0                              \
  "vldrb.8 q2, [r1], #16\n\t" mac \
  " r0, q0, q2\n\t"               \
  "vldrb.8 q3, [r3], #16\n\t" mac \
  " r2, q0, q3\n\t"               \
  x1 mac                          \
  " r8, q1, q2\n\t"               \
  "vldrb.8 q4, [r5], #16\n\t" mac \
  " r10, q1, q3\n\t"              \
  "vldrb.8 q5, [r7], #16\n\t" mac \
  " r4, q0, q4\n\t" mac           \
  " r12, q1, q4\n\t" mac          \
  " r6, q0, q5\n\t" mac           \
  " lr, q1, q5\n\t"
// clang-format on

// Stack: 0 filter, 4 row_bytes, 8 columns, 12 passes, 16 sums, 20 end of sums, 24 where the first pass begins.
#define FUNCTION(x0, x1) \
  __asm__ volatile(                                                                                 \
      "push {r4-r11, lr}\n\t"                                                                       \
      "vpush {d8-d11}\n\t" /* q4, q5 */                                                             \
      "sub sp, #28\n\t"                                                                             \
      "ldmia r0, {r1, r2, r3, r4, r5, r6}\n\t" /* filter, row_bytes, columns, vectors, sums, blocks */ \
      "add r6, r5, r6, lsl #5\n\t"             /* end of sums */                                    \
      "adds r7, r4, #2\n\t"                    /* (vectors - 1 + 3) / 4 passes */                   \
      "lsrs r7, r7, #2\n\t"                                                                         \
      "stmia sp, {r1, r2, r3, r7}\n\t"                                                              \
      "strd r5, r6, [sp, #16]\n\t"                                                                  \
      "ldr r0, =5f\n\t"                                                                             \
      "subs r4, #1\n\t"                                                                             \
      "beq 0f\n\t"                                                                                  \
      "negs r4, r4\n\t"                                                                             \
      "and r4, r4, #3\n\t" /* steps that the first pass leaves out */                               \
      "ldr r0, =2f\n\t"                                                                             \
      "add r0, r0, r4, lsl #6\n\t" /* a step is 14 instructions of 4 bytes: 64 - 8 */               \
      "sub r0, r0, r4, lsl #3\n"                                                                    \
      "0:\n\t"                                                                                      \
      "orr r0, r0, #1\n\t"                                                                          \
      "str r0, [sp, #24]\n"                                                                         \
      "1:\n\t"                                                                                      \
      "ldmia sp, {r1, r2, r9, r11}\n\t"                                                             \
      "add r3, r1, r2\n\t"                                                                          \
      "add r5, r3, r2\n\t"                                                                          \
      "add r7, r5, r2\n\t"                                                                          \
      "add r4, r7, r2\n\t"                                                                          \
      "str r4, [sp]\n\t" STEP("vmladav.s8", x0, x1)                                                 \
      "ldr pc, [sp, #24]\n"                                                                         \
      "2:\n\t" STEP("vmladava.s8", x0, x1) STEP("vmladava.s8", x0, x1) STEP("vmladava.s8", x0, x1)  \
          STEP("vmladava.s8", x0, x1)                                                               \
      "subs r11, #1\n\t"                                                                            \
      "bne 2b\n"                                                                                    \
      "5:\n\t"                                                                                      \
      "ldrd r9, r11, [sp, #16]\n\t"                                                                 \
      "stmia r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"                                           \
      "cmp r9, r11\n\t"                                                                             \
      "str r9, [sp, #16]\n\t"                                                                       \
      "bne 1b\n\t"                                                                                  \
      "add sp, #28\n\t"                                                                             \
      "vpop {d8-d11}\n\t"                                                                           \
      "pop {r4-r11, pc}\n\t"                                                                        \
      ".ltorg\n\t")

static __attribute__((naked)) void near(const cortex_m_nn_dot_2x4_args *args) {
  (void)args;
  FUNCTION("vldrb.8 q0, [r9], #16\n\t", "vldrw.32 q1, [r9, #480]\n\t");
}

static __attribute__((naked)) void far(const cortex_m_nn_dot_2x4_args *args) {
  (void)args;
  FUNCTION("vldrb.8 q0, [r9], #16\n\t", "vldrb.8 q1, [r9], #16\n\t");
}

_Static_assert(16 * CORTEX_M_NN_DOT_2X4_NEAR - 16 == 480, "near() reads the second column there, one step ahead");

void cortex_m_nn_dot_2x4_mve(const cortex_m_nn_dot_2x4_args *args) {
  if (args->vectors <= CORTEX_M_NN_DOT_2X4_NEAR) {
    near(args);
  } else {
    far(args);
  }
}

#endif  // MVE
