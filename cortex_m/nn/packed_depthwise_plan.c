// What a packed depthwise convolution is packed as, how much memory it needs, and the packing itself.
#include <stddef.h>
#include <string.h>

#include "mve.h"
#include "packed_depthwise_conv_s8.h"
#include "requantize.h"

// The plain kernel for MVE makes 2x2 outputs of a channel from one patch where the stride is 1. On large outputs it is as good.
static bool patches_are_as_good(const cortex_m_nn_packed_conv_args *args) {
  return args->rows.stride == 1 && args->columns.stride == 1 && args->rows.dilation == 1 &&
         args->columns.dilation == 1 && args->rows.output >= 12 && args->columns.output >= 12;
}

cortex_m_nn_packing cortex_m_nn_packed_depthwise_conv_packing(cortex_m_nn_isa isa,
                                                              const cortex_m_nn_packed_conv_args *args) {
  if (isa != CORTEX_M_NN_ISA_MVE || args->rows.kernel != 3 || args->columns.kernel != 3 ||
      args->input_channels != args->output_channels || args->output_channels % CORTEX_M_NN_PACKED_LANES != 0 ||
      patches_are_as_good(args)) {
    return CORTEX_M_NN_PACKING_NONE;
  }
  return cortex_m_nn_packed_depthwise_conv_bytes(args) < 0 ? CORTEX_M_NN_PACKING_NONE : CORTEX_M_NN_PACKING_TAPS_OF_16;
}

int32_t cortex_m_nn_packed_depthwise_conv_bytes(const cortex_m_nn_packed_conv_args *args) {
  const int64_t bytes = args->output_channels * (CORTEX_M_NN_PACKED_TAPS + 3 * (int64_t)sizeof(int32_t));
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

// A pixel of the zero point.
int32_t cortex_m_nn_packed_depthwise_conv_scratch_bytes(const cortex_m_nn_packed_conv_args *args) {
  return args->input_channels;
}

#if CORTEX_M_NN_MVE

bool cortex_m_nn_packed_depthwise_conv_is_valid(const cortex_m_nn_packed_conv_args *args) {
  int8_t weight = INT8_MAX;
  int32_t multiplier = INT32_MAX, low = INT32_MAX, high = INT32_MIN;
  const int8_t *from = args->packed;
  for (int32_t block = args->output_channels / CORTEX_M_NN_PACKED_LANES; block > 0; --block) {
    for (int32_t tap = CORTEX_M_NN_PACKED_TAPS; tap > 0; --tap, from += 16) {
      weight = vminvq_s8(weight, vldrbq_s8(from));
    }
    const int32_t *parameters = (const int32_t *)(const void *)from;
    for (int32_t group = 4; group > 0; --group, parameters += 12) {
      const int32x4_t shift = vldrwq_s32(parameters + 8);
      multiplier = vminvq_s32(multiplier, vldrwq_s32(parameters + 4));
      low = vminvq_s32(low, shift);
      high = vmaxvq_s32(high, shift);
    }
    from = (const int8_t *)parameters;
  }
  return weight > INT8_MIN && cortex_m_nn_packed_requantization_is_valid(multiplier, low) &&
         cortex_m_nn_packed_requantization_is_valid(multiplier, high);
}

#else

bool cortex_m_nn_packed_depthwise_conv_is_valid(const cortex_m_nn_packed_conv_args *args) {
  const int8_t *from = args->packed;
  for (int32_t block = args->output_channels / CORTEX_M_NN_PACKED_LANES; block > 0; --block) {
    for (int32_t i = CORTEX_M_NN_PACKED_TAPS * CORTEX_M_NN_PACKED_LANES; i > 0; --i) {
      if (*from++ == INT8_MIN) {
        return false;
      }
    }
    int32_t parameters[4][3][4];
    memcpy(parameters, from, sizeof parameters);
    from += sizeof parameters;
    for (int32_t i = 0; i < CORTEX_M_NN_PACKED_LANES; ++i) {
      if (!cortex_m_nn_packed_requantization_is_valid(parameters[i / 4][1][i % 4], parameters[i / 4][2][i % 4])) {
        return false;
      }
    }
  }
  return true;
}

#endif

void cortex_m_nn_pack_depthwise_conv(const cortex_m_nn_packed_conv_args *args, const int8_t *filter,
                                     const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                     int8_t *packed) {
  const int32_t channels = args->output_channels;
  for (int32_t first = 0; first < channels; first += CORTEX_M_NN_PACKED_LANES) {
    for (int32_t tap = 0; tap < CORTEX_M_NN_PACKED_TAPS; ++tap, packed += CORTEX_M_NN_PACKED_LANES) {
      memcpy(packed, filter + tap * channels + first, CORTEX_M_NN_PACKED_LANES);
    }
    int32_t parameters[4][3][4];
    for (int32_t i = 0; i < CORTEX_M_NN_PACKED_LANES; ++i) {
      const int32_t c = first + cortex_m_nn_packed_lane(i);
      int32_t sum = 0;
      for (int32_t tap = 0; tap < CORTEX_M_NN_PACKED_TAPS; ++tap) {
        sum += filter[tap * channels + c];
      }
      parameters[i / 4][0][i % 4] =
          cortex_m_nn_wrapping_add(bias != NULL ? bias[c] : 0, cortex_m_nn_wrapping_mul(args->input_offset, sum));
      parameters[i / 4][1][i % 4] = multiplier[c];
      parameters[i / 4][2][i % 4] = shift[c];
    }
    memcpy(packed, parameters, sizeof parameters);
    packed += sizeof parameters;
  }
}
