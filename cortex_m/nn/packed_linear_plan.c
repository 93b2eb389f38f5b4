// What a packed linear layer is packed as, how much memory it needs, and the packing itself.
#include <stddef.h>
#include <string.h>

#include "packed_linear_s8.h"
#include "requantize.h"

cortex_m_nn_packing cortex_m_nn_packed_linear_packing(cortex_m_nn_isa isa, const cortex_m_nn_packed_linear_args *args) {
  const bool fours = isa == CORTEX_M_NN_ISA_DSP && args->channels % 4 == 0;
  return fours && cortex_m_nn_packed_linear_bytes(args) >= 0 && cortex_m_nn_packed_linear_scratch_bytes(args) >= 0
             ? CORTEX_M_NN_PACKING_FOURS_OF_PAIRS
             : CORTEX_M_NN_PACKING_NONE;
}

int32_t cortex_m_nn_packed_linear_bytes(const cortex_m_nn_packed_linear_args *args) {
  const int64_t bytes = args->channels * (((int64_t)args->depth + 3) / 4 * 4 + 3 * (int64_t)sizeof(int32_t));
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

// A row of the input with 16 bits a value.
int32_t cortex_m_nn_packed_linear_scratch_bytes(const cortex_m_nn_packed_linear_args *args) {
  const int64_t bytes = ((int64_t)args->depth + 3) / 4 * 4 * (int64_t)sizeof(int16_t);
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

bool cortex_m_nn_packed_linear_is_valid(const cortex_m_nn_packed_linear_args *args) {
  const int32_t block_bytes = cortex_m_nn_packed_linear_bytes(args) / (args->channels / 4);
  const int8_t *next = args->packed;
  for (int32_t c = 0; c < args->channels; c += 4) {
    next += block_bytes;
    int32_t factors[2][4];
    memcpy(factors, next - sizeof factors, sizeof factors);
    for (int32_t i = 0; i < 4; ++i) {
      if (!cortex_m_nn_packed_requantization_is_valid(factors[0][i], factors[1][i])) {
        return false;
      }
    }
  }
  return true;
}

// Whether every sum of an even channel's products fits 24 bits.
static bool even_sums_fit(const int8_t *weights, int32_t depth, int32_t channels) {
  for (int32_t c = 0; c < channels; c += 2) {
    int64_t sum = 0;
    for (int32_t k = 0; k < depth; ++k) {
      const int32_t weight = weights[(int64_t)c * depth + k];
      sum += weight < 0 ? -weight : weight;
    }
    if (128 * sum >= (int64_t)1 << 23) {
      return false;
    }
  }
  return true;
}

bool cortex_m_nn_pack_linear(const cortex_m_nn_packed_linear_args *args, const int8_t *weights, const int32_t *bias,
                             const int32_t *multiplier, const int32_t *shift, int8_t *packed) {
  const int32_t depth = args->depth;
  if (!even_sums_fit(weights, depth, args->channels)) {
    return false;
  }
  for (int32_t c = 0; c < args->channels; c += 4) {
    for (int32_t k = 0; k < depth; k += 4) {
      for (int32_t i = 0; i < 4; ++i, packed += 4) {
        int16_t halves[2] = {0, 0};
        for (int32_t j = 0; j < 2; ++j) {
          const int32_t at = k + i / 2 + 2 * j;
          if (at < depth) {
            const int32_t half =
                256 * weights[(c + i % 2 * 2) * depth + at] + weights[(c + i % 2 * 2 + 1) * depth + at];
            if (half < INT16_MIN) {
              return false;
            }
            halves[j] = (int16_t)half;
          }
        }
        memcpy(packed, halves, sizeof halves);
      }
    }
    int32_t parameters[3][4];
    for (int32_t i = 0; i < 4; ++i) {
      parameters[0][i] = bias != NULL ? bias[c + i] : 0;
      parameters[1][i] = multiplier[c + i];
      parameters[2][i] = shift[c + i];
    }
    memcpy(packed, parameters, sizeof parameters);
    packed += sizeof parameters;
  }
  return true;
}
