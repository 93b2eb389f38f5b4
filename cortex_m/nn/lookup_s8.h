// A table look-up for each byte. CMSIS-NN has no such function: this one is linked beside either kernel library.
#ifndef CORTEX_M_NN_LOOKUP_S8_H_
#define CORTEX_M_NN_LOOKUP_S8_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// output[i] = table[input[i] + 128]. table: 256 entries. Input and output may be the same memory.
void cortex_m_nn_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, int32_t count);

// The variants, for tests.
void cortex_m_nn_lookup_scalar(const int8_t *input, const int8_t *table, int8_t *output, int32_t count);
void cortex_m_nn_lookup_mve(const int8_t *input, const int8_t *table, int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_LOOKUP_S8_H_
