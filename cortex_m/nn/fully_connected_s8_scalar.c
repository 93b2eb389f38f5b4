// One row of the input times four output channels at a time: each input value, offset added, serves four weights.
#include <stddef.h>

#include "fully_connected_s8.h"
#include "requantize.h"

static int8_t finish(const cortex_m_nn_fully_connected_call *call, uint32_t acc, int32_t channel) {
  const int32_t index = channel * call->quant_step;
  return cortex_m_nn_requantize_to_s8((int32_t)acc, call->multiplier[index], call->shift[index],
                                      call->params->output_offset, call->params->activation.min,
                                      call->params->activation.max);
}

static uint32_t bias_of(const cortex_m_nn_fully_connected_call *call, int32_t channel) {
  return call->bias != NULL ? (uint32_t)call->bias[channel] : 0;
}

// sum(x + input_offset) * filter_offset, which every output of the row has in common.
static uint32_t filter_offset_term(const cortex_m_nn_fully_connected_call *call, const int8_t *x, int32_t depth) {
  if (call->params->filter_offset == 0) {
    return 0;
  }
  uint32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    sum += (uint32_t)(x[i] + call->params->input_offset);
  }
  return sum * (uint32_t)call->params->filter_offset;
}

void cortex_m_nn_fully_connected_scalar(const cortex_m_nn_fully_connected_call *call) {
  const int32_t depth = call->filter_dims->n;
  const int32_t channels = call->output_dims->c;
  const int32_t offset = call->params->input_offset;
  for (int32_t row = 0; row < call->input_dims->n; ++row) {
    const int8_t *x = call->input + row * depth;
    int8_t *out = call->output + row * channels;
    const uint32_t common = filter_offset_term(call, x, depth);
    int32_t c = 0;
    for (; c + 4 <= channels; c += 4) {
      const int8_t *w0 = call->filter + c * depth;
      const int8_t *w1 = w0 + depth;
      const int8_t *w2 = w1 + depth;
      const int8_t *w3 = w2 + depth;
      uint32_t acc0 = bias_of(call, c) + common;
      uint32_t acc1 = bias_of(call, c + 1) + common;
      uint32_t acc2 = bias_of(call, c + 2) + common;
      uint32_t acc3 = bias_of(call, c + 3) + common;
      for (int32_t i = 0; i < depth; ++i) {
        const int32_t value = x[i] + offset;
        acc0 += (uint32_t)(value * w0[i]);
        acc1 += (uint32_t)(value * w1[i]);
        acc2 += (uint32_t)(value * w2[i]);
        acc3 += (uint32_t)(value * w3[i]);
      }
      out[c] = finish(call, acc0, c);
      out[c + 1] = finish(call, acc1, c + 1);
      out[c + 2] = finish(call, acc2, c + 2);
      out[c + 3] = finish(call, acc3, c + 3);
    }
    for (; c < channels; ++c) {
      const int8_t *w = call->filter + c * depth;
      uint32_t acc = bias_of(call, c) + common;
      for (int32_t i = 0; i < depth; ++i) {
        acc += (uint32_t)((x[i] + offset) * w[i]);
      }
      out[c] = finish(call, acc, c);
    }
  }
}
