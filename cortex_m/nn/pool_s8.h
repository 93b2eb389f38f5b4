// What the pooling functions share: one check of the arguments, and the variants, which trust it.
#ifndef CORTEX_M_NN_POOL_S8_H_
#define CORTEX_M_NN_POOL_S8_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"
#include "window.h"

typedef struct {
  const cmsis_nn_pool_params *params;
  const cmsis_nn_dims *input_dims;
  const int8_t *input;
  const cmsis_nn_dims *filter_dims;
  const cmsis_nn_dims *output_dims;
  int8_t *output;
} cortex_m_nn_pool_call;

bool cortex_m_nn_pool_call_is_valid(const cortex_m_nn_pool_call *call);

void cortex_m_nn_avgpool_scalar(const cortex_m_nn_pool_call *call);
void cortex_m_nn_avgpool_dsp(const cortex_m_nn_pool_call *call);
void cortex_m_nn_avgpool_mve(const cortex_m_nn_pool_call *call);
void cortex_m_nn_max_pool_scalar(const cortex_m_nn_pool_call *call);
void cortex_m_nn_max_pool_mve(const cortex_m_nn_pool_call *call);

// The part of a window that lies inside the input.
typedef struct {
  const int8_t *input;  // its first pixel
  int32_t rows;
  int32_t columns;
  int32_t row_step;  // from one row to the next, in values
} cortex_m_nn_pool_window;

static inline cortex_m_nn_pool_window cortex_m_nn_pool_window_at(const cortex_m_nn_pool_call *call, int32_t n,
                                                                 int32_t y, int32_t x) {
  const cmsis_nn_pool_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t origin_y = y * params->stride.h - params->padding.h;
  const int32_t origin_x = x * params->stride.w - params->padding.w;
  const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, 1, call->filter_dims->h, input->h);
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(origin_x, 1, call->filter_dims->w, input->w);
  const int32_t pixel = (n * input->h + origin_y + rows.begin) * input->w + origin_x + columns.begin;
  cortex_m_nn_pool_window window = {call->input + pixel * input->c, rows.end - rows.begin, columns.end - columns.begin,
                                    input->w * input->c};
  if (window.columns == input->w) {  // whole rows: one long row
    window.columns *= window.rows;
    window.rows = 1;
  }
  return window;
}

#endif  // CORTEX_M_NN_POOL_S8_H_
