// A wrong kernel in the place of the right one: it rounds every product down, where the nearest is right. An image that
// links this has it instead of the kernel library's, and tools:compare must find it.
#include <stdint.h>

int arm_elementwise_mul_s8(const int8_t* input_1_vect, const int8_t* input_2_vect, int32_t input_1_offset,
                           int32_t input_2_offset, int8_t* output, int32_t out_offset, int32_t out_mult,
                           int32_t out_shift, int32_t out_activation_min, int32_t out_activation_max,
                           int32_t block_size);

int arm_elementwise_mul_s8(const int8_t* input_1_vect, const int8_t* input_2_vect, int32_t input_1_offset,
                           int32_t input_2_offset, int8_t* output, int32_t out_offset, int32_t out_mult,
                           int32_t out_shift, int32_t out_activation_min, int32_t out_activation_max,
                           int32_t block_size) {
  for (int32_t i = 0; i < block_size; ++i) {
    const int64_t product = (int64_t)(input_1_vect[i] + input_1_offset) * (input_2_vect[i] + input_2_offset);
    int64_t value = ((product * out_mult) >> (31 - out_shift)) + out_offset;
    if (value < out_activation_min) {
      value = out_activation_min;
    }
    if (value > out_activation_max) {
      value = out_activation_max;
    }
    output[i] = (int8_t)value;
  }
  return 0;
}
