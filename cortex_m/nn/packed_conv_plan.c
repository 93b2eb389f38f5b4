// What a packed convolution is packed as, how much memory it needs, and the packing itself: asked by the exporter on the host
// and by the operator on the device.
#include <stddef.h>
#include <string.h>

#include "additional.h"
#include "requantize.h"

static int64_t depth_of(const cortex_m_nn_packed_conv_args *args) {
  return (int64_t)args->rows.kernel * args->columns.kernel * args->input_channels;
}

cortex_m_nn_packing cortex_m_nn_packed_conv_packing(cortex_m_nn_isa isa, const cortex_m_nn_packed_conv_args *args) {
  const int64_t pixels = (int64_t)args->batch * args->rows.output * args->columns.output;
  // The kernel for MVE makes two channels of four pixels at a time, and has 16 bits for the distance of their outputs.
  if (isa != CORTEX_M_NN_ISA_MVE || args->output_channels % 2 != 0 || args->output_channels > UINT16_MAX / 4 ||
      pixels < 3) {
    return CORTEX_M_NN_PACKING_NONE;
  }
  return cortex_m_nn_packed_conv_bytes(args) < 0 || cortex_m_nn_packed_conv_scratch_bytes(args) < 0
             ? CORTEX_M_NN_PACKING_NONE
             : CORTEX_M_NN_PACKING_PAIRS_OF_16;
}

int32_t cortex_m_nn_packed_conv_bytes(const cortex_m_nn_packed_conv_args *args) {
  const int64_t depth = depth_of(args);
  if (depth > INT32_MAX) {
    return -1;
  }
  const int64_t bytes = args->output_channels * ((depth + 15) / 16 * 16 + 3 * (int64_t)sizeof(int32_t));
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

// Four windows, each with 16 bytes behind it, as cortex_m_nn_gather_window_mve writes them.
int32_t cortex_m_nn_packed_conv_scratch_bytes(const cortex_m_nn_packed_conv_args *args) {
  const int64_t depth = depth_of(args);
  if (depth > INT32_MAX) {
    return -1;
  }
  const int64_t bytes = 4 * ((depth + 15) / 16 * 16 + 16);
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

bool cortex_m_nn_packed_conv_is_valid(const cortex_m_nn_packed_conv_args *args) {
  const int32_t pair_bytes = cortex_m_nn_packed_conv_bytes(args) / (args->output_channels / 2);
  const int8_t *next = args->packed;
  for (int32_t c = 0; c < args->output_channels; c += 2) {
    next += pair_bytes;
    int32_t factors[2][2];
    memcpy(factors, next - sizeof factors, sizeof factors);
    if (!cortex_m_nn_packed_requantization_is_valid(factors[0][0], factors[1][0]) ||
        !cortex_m_nn_packed_requantization_is_valid(factors[0][1], factors[1][1])) {
      return false;
    }
  }
  return true;
}

void cortex_m_nn_pack_conv(const cortex_m_nn_packed_conv_args *args, const int8_t *filter, const int32_t *bias,
                           const int32_t *multiplier, const int32_t *shift, int8_t *packed) {
  const int32_t depth = (int32_t)depth_of(args);
  for (int32_t c = 0; c < args->output_channels; c += 2) {
    int32_t parameters[3][2];
    for (int32_t i = 0; i < 2; ++i) {
      int32_t sum = 0;
      for (int32_t k = 0; k < depth; ++k) {
        sum = cortex_m_nn_wrapping_add(sum, filter[(c + i) * depth + k]);
      }
      parameters[0][i] =
          cortex_m_nn_wrapping_add(bias != NULL ? bias[c + i] : 0, cortex_m_nn_wrapping_mul(args->input_offset, sum));
      parameters[1][i] = multiplier[c + i];
      parameters[2][i] = shift[c + i];
    }
    for (int32_t k = 0; k < depth; k += 16) {
      const size_t count = depth - k < 16 ? (size_t)(depth - k) : 16;
      for (int32_t i = 0; i < 2; ++i, packed += 16) {
        memset(packed, 0, 16);
        memcpy(packed, filter + (c + i) * depth + k, count);
      }
    }
    memcpy(packed, parameters, sizeof parameters);
    packed += sizeof parameters;
  }
}
