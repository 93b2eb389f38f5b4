// One output pixel of a depthwise convolution of nine taps, 16 channels at a time. A tap's pointer runs over the channels, so each
// has a core register of its own, and weights and parameters are one stream.
//
// A weight is above -128, so the products of two taps and their sum have 16 bits; they are widened two taps at a time.
#include "packed_depthwise_conv_s8.h"

#if CORTEX_M_NN_MVE

// The products of two taps: even channels in q2, odd ones in q3. The second one's weights are loaded twice for want of a register.
// clang-format off
#define TWO_TAPS(xa, xb)               \
  "vldrb.8 q0, [" xa "], #16\n\t"      \
  "vldrb.8 q1, [r9], #16\n\t"          \
  "vmullb.s8 q2, q0, q1\n\t"           \
  "vmullt.s8 q3, q0, q1\n\t"           \
  "vldrb.8 q0, [" xb "], #16\n\t"      \
  "vldrb.8 q1, [r9], #16\n\t"          \
  "vmullt.s8 q1, q0, q1\n\t"           \
  "vadd.i16 q3, q3, q1\n\t"            \
  "vldrb.8 q1, [r9, #-16]\n\t"         \
  "vmullb.s8 q1, q0, q1\n\t"           \
  "vadd.i16 q2, q2, q1\n\t"
// clang-format on

// Adds them to the sums: q4 has channels 0, 4, 8 and 12, q5 from 2, q6 from 1 and q7 from 3.
#define ADD                 \
  "vmovlb.s16 q0, q2\n\t"   \
  "vmovlt.s16 q1, q2\n\t"   \
  "vadd.i32 q4, q4, q0\n\t" \
  "vadd.i32 q5, q5, q1\n\t" \
  "vmovlb.s16 q0, q3\n\t"   \
  "vmovlt.s16 q1, q3\n\t"   \
  "vadd.i32 q6, q6, q0\n\t" \
  "vadd.i32 q7, q7, q1\n\t"

// clang-format off
#define REQUANTIZE(sums)                 \
  "vldrw.32 q0, [r9], #16\n\t"           \
  "vadd.i32 " sums ", " sums ", q0\n\t"  \
  "vldrw.32 q1, [r9], #16\n\t"           \
  "vqrdmulh.s32 " sums ", " sums ", q1\n\t" \
  "vldrw.32 q2, [r9], #16\n\t"           \
  "vshr.s32 q3, " sums ", #31\n\t"       \
  "vadd.i32 " sums ", " sums ", q3\n\t"  \
  "vrshl.s32 " sums ", " sums ", q2\n\t"
// clang-format on

// r0-r8 the taps, r9 packed, r10 out, r11 output offset, r12 limits, lr blocks.
void cortex_m_nn_packed_depthwise_pixel_mve(const cortex_m_nn_packed_depthwise_pixel *pixel) __attribute__((naked));
void cortex_m_nn_packed_depthwise_pixel_mve(const cortex_m_nn_packed_depthwise_pixel *pixel) {
  (void)pixel;
  __asm__ volatile(
      "push {r4-r11, lr}\n\t"
      "vpush {d8-d15}\n\t"
      "ldmia r0, {r0-r12, lr}\n\t"
      "dls lr, lr\n"
      "1:\n\t" TWO_TAPS("r0", "r1")
      "vmovlb.s16 q4, q2\n\t"
      "vmovlt.s16 q5, q2\n\t"
      "vmovlb.s16 q6, q3\n\t"
      "vmovlt.s16 q7, q3\n\t"
      TWO_TAPS("r2", "r3") ADD TWO_TAPS("r4", "r5") ADD TWO_TAPS("r6", "r7") ADD
      "vldrb.8 q0, [r8], #16\n\t"
      "vldrb.8 q1, [r9], #16\n\t"
      "vmullb.s8 q2, q0, q1\n\t"
      "vmullt.s8 q3, q0, q1\n\t"
      ADD REQUANTIZE("q4") REQUANTIZE("q5") REQUANTIZE("q6") REQUANTIZE("q7")
      "vqmovnb.s32 q0, q4\n\t"
      "vqmovnb.s32 q1, q6\n\t"
      "vqmovnt.s32 q0, q5\n\t"
      "vqmovnt.s32 q1, q7\n\t"
      "vqadd.s16 q0, q0, r11\n\t"
      "vqadd.s16 q1, q1, r11\n\t"
      "vldrb.8 q3, [r12]\n\t"
      "vqmovnb.s16 q2, q0\n\t"
      "vldrb.8 q4, [r12, #16]\n\t"
      "vqmovnt.s16 q2, q1\n\t"
      "vmax.s8 q2, q2, q3\n\t"
      "vmin.s8 q2, q2, q4\n\t"
      "vstrb.8 q2, [r10], #16\n\t"
      "le lr, 1b\n\t"
      "vpop {d8-d15}\n\t"
      "pop {r4-r11, pc}\n\t");
}

_Static_assert(sizeof(cortex_m_nn_packed_depthwise_pixel) == 14 * 4, "what is loaded into r0-r12 and lr");

#endif  // MVE
