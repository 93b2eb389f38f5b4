// Minimum and maximum of two rows of int8.
#ifndef CORTEX_M_NN_EXTREMUM_S8_H_
#define CORTEX_M_NN_EXTREMUM_S8_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"

// A row of which every element is read, or the first one again and again.
typedef struct {
  const int8_t *values;
  bool repeats;
} cortex_m_nn_extremum_row;

void cortex_m_nn_extremum_scalar(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                                 int32_t count);
void cortex_m_nn_extremum_words(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                                int32_t count);
void cortex_m_nn_extremum_mve(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                              int32_t count);

// arm_maximum_s8 or arm_minimum_s8.
arm_cmsis_nn_status cortex_m_nn_extremum_s8(const int8_t *input_1, const cmsis_nn_dims *input_1_dims,
                                            const int8_t *input_2, const cmsis_nn_dims *input_2_dims, bool maximum,
                                            int8_t *output, const cmsis_nn_dims *output_dims);

#endif  // CORTEX_M_NN_EXTREMUM_S8_H_
