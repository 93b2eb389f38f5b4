#include <stddef.h>
#include <string.h>

#include "arm_nnfunctions.h"
#include "checks.h"

enum { kMaxDims = 4 };

arm_cmsis_nn_status arm_transpose_s8(const int8_t *input, int8_t *output, const cmsis_nn_dims *input_dims,
                                     const cmsis_nn_dims *output_dims,
                                     const cmsis_nn_transpose_params *transpose_params) {
  if (input == NULL || output == NULL || input_dims == NULL || output_dims == NULL || transpose_params == NULL ||
      transpose_params->permutations == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t dims = transpose_params->num_dims;
  if (dims < 1 || dims > kMaxDims) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t in_size[kMaxDims] = {input_dims->n, input_dims->h, input_dims->w, input_dims->c};
  const int32_t out_size[kMaxDims] = {output_dims->n, output_dims->h, output_dims->w, output_dims->c};
  int32_t in_stride[kMaxDims];
  int64_t elements = 1;
  for (int32_t i = dims - 1; i >= 0; --i) {
    in_stride[i] = (int32_t)elements;
    if (in_size[i] < 1 || elements * in_size[i] > INT32_MAX) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    elements *= in_size[i];
  }

  // Output sizes and the input stride of each output dimension, right-aligned in four dimensions.
  int32_t size[kMaxDims] = {1, 1, 1, 1};
  int32_t stride[kMaxDims] = {0, 0, 0, 0};
  uint32_t seen = 0;
  for (int32_t i = 0; i < dims; ++i) {
    const uint32_t source = transpose_params->permutations[i];
    if (source >= (uint32_t)dims || (seen & (1u << source)) != 0 || out_size[i] != in_size[source]) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    seen |= 1u << source;
    size[kMaxDims - dims + i] = out_size[i];
    stride[kMaxDims - dims + i] = in_stride[source];
  }

  for (int32_t a = 0; a < size[0]; ++a) {
    for (int32_t b = 0; b < size[1]; ++b) {
      for (int32_t c = 0; c < size[2]; ++c) {
        const int8_t *source = input + a * stride[0] + b * stride[1] + c * stride[2];
        if (stride[3] == 1) {
          memcpy(output, source, (size_t)size[3]);
          output += size[3];
          continue;
        }
        for (int32_t d = 0; d < size[3]; ++d, source += stride[3]) {
          *output++ = *source;
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
