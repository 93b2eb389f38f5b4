// The packed linear layer's variant for the DSP extension.
#ifndef CORTEX_M_NN_PACKED_LINEAR_S8_H_
#define CORTEX_M_NN_PACKED_LINEAR_S8_H_

#include <stdint.h>

#include "additional.h"

// The weights of a half, 256 times the upper one plus the lower one.
static inline int32_t cortex_m_nn_packed_lower(int16_t half) { return (int8_t)(half & 0xFF); }
static inline int32_t cortex_m_nn_packed_upper(int16_t half) { return (half - cortex_m_nn_packed_lower(half)) / 256; }

// The lower 24 bits: an even channel's sum is what is left of one of 32 bits above the lower weights' 8.
static inline int32_t cortex_m_nn_packed_24_bits(int32_t sum) { return (int32_t)((uint32_t)sum << 8) >> 8; }

// scratch: cortex_m_nn_packed_linear_scratch_bytes, aligned to 4 bytes.
void cortex_m_nn_packed_linear_dsp(const cortex_m_nn_packed_linear_args *args, void *scratch);

#endif  // CORTEX_M_NN_PACKED_LINEAR_S8_H_
