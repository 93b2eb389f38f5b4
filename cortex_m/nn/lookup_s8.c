// There is no DSP variant: to take four bytes from a word apart and to put four together costs as many instructions as three
// loads and three stores.
#include "additional.h"
#include "isa.h"
#include "mve.h"

void cortex_m_nn_lookup_scalar(const int8_t *input, const int8_t *table, int8_t *output, int32_t count) {
  const int8_t *zero = table + 128;
  for (; count >= 4; count -= 4, input += 4, output += 4) {
    const int8_t a = zero[input[0]], b = zero[input[1]], c = zero[input[2]], d = zero[input[3]];
    output[0] = a;
    output[1] = b;
    output[2] = c;
    output[3] = d;
  }
  for (; count > 0; --count) {
    *output++ = zero[*input++];
  }
}

#if CORTEX_M_NN_MVE
static void lookup_mve(const int8_t *input, const int8_t *table, int8_t *output, int32_t count) {
  const uint8x16_t sign = vdupq_n_u8(0x80);  // -128..127 becomes 0..255
  for (; count >= 16; count -= 16, input += 16, output += 16) {
    const uint8x16_t places = veorq_u8(vldrbq_u8((const uint8_t *)input), sign);
    vstrbq_s8(output, vldrbq_gather_offset_s8(table, places));
  }
  if (count > 0) {
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    const uint8x16_t places = veorq_u8(vldrbq_z_u8((const uint8_t *)input, lanes), sign);
    vstrbq_p_s8(output, vldrbq_gather_offset_z_s8(table, places, lanes), lanes);
  }
}
#endif  // MVE

void cortex_m_nn_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, int32_t count) {
#if CORTEX_M_NN_MVE
  lookup_mve(input, table, output, count);
#else
  cortex_m_nn_lookup_scalar(input, table, output, count);
#endif
}
