// The forms of quantize and dequantize, for the tests; what the arguments are, additional.h says.
#ifndef CORTEX_M_NN_QUANTIZE_S8_H_
#define CORTEX_M_NN_QUANTIZE_S8_H_

#include "additional.h"

// Instructions for float32 numbers, and vectors of them.
#if defined(__ARM_FP) && (__ARM_FP & 4)
#define CORTEX_M_NN_FPU 1
#else
#define CORTEX_M_NN_FPU 0
#endif
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define CORTEX_M_NN_MVE_FLOAT 1
#else
#define CORTEX_M_NN_MVE_FLOAT 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The definition.
void cortex_m_nn_quantize_scalar(const float *input, int8_t *output, int32_t step, int32_t count,
                                 const cortex_m_nn_quantization *quantization);
void cortex_m_nn_dequantize_scalar(const int8_t *input, int32_t step, float *output, int32_t count,
                                   const cortex_m_nn_quantization *quantization);

// For cores without a floating-point unit.
void cortex_m_nn_quantize_integer(const float *input, int8_t *output, int32_t step, int32_t count,
                                  const cortex_m_nn_quantization *quantization);
void cortex_m_nn_dequantize_integer(const int8_t *input, int32_t step, float *output, int32_t count,
                                    const cortex_m_nn_quantization *quantization);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_QUANTIZE_S8_H_
