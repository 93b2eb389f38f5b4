#include <stddef.h>

#include "arm_nnfunctions.h"
#include "checks.h"
#include "fully_connected_s8.h"

static bool serves(int32_t size, int32_t wanted) { return size == wanted || size == 1; }

// Each matrix of the output is a fully connected layer: rows of the left operand times rows of the right one.
arm_cmsis_nn_status arm_batch_matmul_s8(const cmsis_nn_context *ctx, const cmsis_nn_bmm_params *bmm_params,
                                        const cmsis_nn_per_tensor_quant_params *quant_params,
                                        const cmsis_nn_dims *input_lhs_dims, const int8_t *input_lhs,
                                        const cmsis_nn_dims *input_rhs_dims, const int8_t *input_rhs,
                                        const cmsis_nn_dims *output_dims, int8_t *output) {
  (void)ctx;
  const cmsis_nn_dims *left = input_lhs_dims, *right = input_rhs_dims, *out = output_dims;
  if (bmm_params == NULL || quant_params == NULL || left == NULL || right == NULL || out == NULL || input_lhs == NULL ||
      input_rhs == NULL || output == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (!cortex_m_nn_dims_are_valid(left) || !cortex_m_nn_dims_are_valid(right) || !cortex_m_nn_dims_are_valid(out) ||
      left->c != right->c || left->w != out->w || right->w != out->c || !serves(left->n, out->n) ||
      !serves(right->n, out->n) || !serves(left->h, out->h) || !serves(right->h, out->h)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cmsis_nn_dims rows = {left->w, 1, 1, left->c}, filter = {left->c, 1, 1, right->w},
                      product = {left->w, 1, 1, right->w};
  cortex_m_nn_fully_connected_call call = {&bmm_params->fc_params,
                                           &quant_params->multiplier,
                                           &quant_params->shift,
                                           0,
                                           &rows,
                                           input_lhs,
                                           &filter,
                                           input_rhs,
                                           NULL,
                                           &product,
                                           output};
  for (int32_t n = 0; n < out->n; ++n) {
    for (int32_t h = 0; h < out->h; ++h, call.output += out->w * out->c) {
      const int32_t left_matrix = (left->n == 1 ? 0 : n) * left->h + (left->h == 1 ? 0 : h);
      const int32_t right_matrix = (right->n == 1 ? 0 : n) * right->h + (right->h == 1 ? 0 : h);
      call.input = input_lhs + left_matrix * left->w * left->c;
      call.filter = input_rhs + right_matrix * right->w * right->c;
      const arm_cmsis_nn_status status = cortex_m_nn_fully_connected(&call);
      if (status != ARM_CMSIS_NN_SUCCESS) {
        return status;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
