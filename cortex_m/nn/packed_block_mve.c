// Two output channels of four pixels at a time, all the packed channels one pair after the other. VMLADAV adds to even core
// registers alone; all eight hold sums, so that six loads serve eight VMLADAVA. Packed weights are one stream, which leaves
// enough of the odd registers for the windows of four pixels, read where they lie.
//
// With pixels in the lanes a channel's parameters are scalars, and one VQRDMLAH both multiplies and corrects: halves are to be
// rounded away from zero, VRSHL rounds them up, so that one is taken from what is negative. The sign is the accumulator's, as
// the factor is positive; where the product of a negative one is zero, it rounds to zero from -1 too, for the shift is at
// least one.
#include "packed_conv_s8.h"

#if CORTEX_M_NN_MVE

// Loads and multiplications alternate: on Cortex-M55 they overlap. 14 instructions of 4 bytes.
// clang-format off
#define STEP(mac)                      \
  "vldrb.8 q0, [r9], #16\n\t"          \
  "vldrb.8 q2, [r1], #16\n\t" mac      \
  " r0, q0, q2\n\t"                    \
  "vldrb.8 q1, [r9], #16\n\t" mac      \
  " r8, q1, q2\n\t"                    \
  "vldrb.8 q3, [r3], #16\n\t" mac      \
  " r2, q0, q3\n\t" mac                \
  " r10, q1, q3\n\t"                   \
  "vldrb.8 q2, [r5], #16\n\t" mac      \
  " r4, q0, q2\n\t" mac                \
  " r12, q1, q2\n\t"                   \
  "vldrb.8 q3, [r7], #16\n\t" mac      \
  " r6, q0, q3\n\t" mac                \
  " lr, q1, q3\n\t"
// clang-format on

// Stack: 0 the windows, 16 passes of four steps, 20 where the first one begins, 24 out, 28 end. q4 offset, q5 min, q6 max,
// q7 places.
void cortex_m_nn_packed_block_mve(const cortex_m_nn_packed_block *block) __attribute__((naked));
void cortex_m_nn_packed_block_mve(const cortex_m_nn_packed_block *block) {
  (void)block;
  __asm__ volatile(
      "push {r4-r11, lr}\n\t"
      "vpush {d8-d15}\n\t"
      "vldrw.32 q7, [r0, #32]\n\t"
      "vldrw.32 q4, [r0, #48]\n\t"
      "vldrw.32 q5, [r0, #64]\n\t"
      "vldrw.32 q6, [r0, #80]\n\t"
      "ldr r9, [r0, #96]\n\t"
      "ldmia r0, {r0, r1, r2, r3, r4, r5, r6, r7}\n\t"
      "subs r4, #1\n\t"  // the first step stands before the loop
      "ldr r5, =3f\n\t"
      "beq 0f\n\t"
      "ldr r5, =2f\n\t"
      "negs r8, r4\n\t"
      "and r8, r8, #3\n\t"        // steps that the first pass leaves out
      "add r5, r5, r8, lsl #6\n\t"  // of 56 bytes: 64 - 8
      "sub r5, r5, r8, lsl #3\n\t"
      "adds r4, #3\n\t"
      "lsrs r4, r4, #2\n"
      "0:\n\t"
      "orr r5, r5, #1\n\t"
      "push {r0-r7}\n"
      "1:\n\t"
      "ldmia sp, {r1, r3, r5, r7, r11}\n\t" STEP("vmladav.s8")
      "ldr pc, [sp, #20]\n"
      "2:\n\t" STEP("vmladava.s8") STEP("vmladava.s8") STEP("vmladava.s8") STEP("vmladava.s8")
      "subs r11, #1\n\t"
      "bne 2b\n"
      "3:\n\t"
      "vmov d0, r0, r2\n\t"
      "vmov d2, r8, r10\n\t"
      "vmov d1, r4, r6\n\t"
      "vmov d3, r12, lr\n\t"
      "ldmia r9!, {r0, r2, r4, r6, r8, r10}\n\t"  // biases, multipliers, shifts
      "vadd.i32 q0, q0, r0\n\t"
      "vadd.i32 q1, q1, r2\n\t"
      "vshr.s32 q2, q0, #31\n\t"
      "vshr.s32 q3, q1, #31\n\t"
      "vqrdmlah.s32 q2, q0, r4\n\t"
      "vqrdmlah.s32 q3, q1, r6\n\t"
      "vrshl.s32 q2, r8\n\t"
      "vrshl.s32 q3, r10\n\t"
      "ldrd r1, r3, [sp, #24]\n\t"
      "vqmovnb.s32 q0, q2\n\t"
      "vqmovnt.s32 q0, q3\n\t"
      "vqadd.s16 q0, q0, q4\n\t"
      "vmax.s16 q0, q0, q5\n\t"
      "vmin.s16 q0, q0, q6\n\t"
      "adds r5, r1, #2\n\t"
      "vstrb.16 q0, [r1, q7]\n\t"
      "str r5, [sp, #24]\n\t"
      "cmp r9, r3\n\t"
      "bne 1b\n\t"
      "add sp, #32\n\t"
      "vpop {d8-d15}\n\t"
      "pop {r4-r11, pc}\n\t"
      ".ltorg\n\t");
}

_Static_assert(sizeof(cortex_m_nn_packed_block) == 100 && sizeof(void *) == 4, "the offsets above");

#endif  // MVE
