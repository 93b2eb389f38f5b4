// The part of CMSIS-NN's public interface that the operators may use: names and parameters of functions, fields of structs, as
// of the commit that repository.bzl pins. It is compiled against the library that //third_party/cmsis_nn:library names,
// ours or CMSIS-NN; used_api_test.py compares the names with those in cortex_m/ops.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include "arm_nnfunctions.h"

namespace {

using Status = arm_cmsis_nn_status;
using Context = const cmsis_nn_context*;
using Dims = const cmsis_nn_dims*;
using In = const int8_t*;
using Out = int8_t*;
using Bias = const int32_t*;
using PerChannel = const cmsis_nn_per_channel_quant_params*;
using PerTensor = const cmsis_nn_per_tensor_quant_params*;
using Conv = const cmsis_nn_conv_params*;
using Depthwise = const cmsis_nn_dw_conv_params*;
using TransposeConv = const cmsis_nn_transpose_conv_params*;
using FullyConnected = const cmsis_nn_fc_params*;
using Pool = const cmsis_nn_pool_params*;

#define FUNCTION(name, ...) static_assert(std::is_same_v<decltype(name), __VA_ARGS__>, #name)

FUNCTION(arm_convolve_wrapper_s8, Status(Context, Conv, PerChannel, Dims, In, Dims, In, Dims, Bias, Dims, Out));
FUNCTION(arm_convolve_wrapper_s8_get_buffer_size, int32_t(Conv, Dims, Dims, Dims));
FUNCTION(arm_depthwise_conv_wrapper_s8,
         Status(Context, Depthwise, PerChannel, Dims, In, Dims, In, Dims, Bias, Dims, Out));
FUNCTION(arm_depthwise_conv_wrapper_s8_get_buffer_size, int32_t(Depthwise, Dims, Dims, Dims));
FUNCTION(arm_transpose_conv_wrapper_s8,
         Status(Context, Context, TransposeConv, PerChannel, Dims, In, Dims, In, Dims, Bias, Dims, Out));
FUNCTION(arm_transpose_conv_s8_get_buffer_size, int32_t(TransposeConv, Dims, Dims, Dims));
FUNCTION(arm_transpose_conv_s8_get_reverse_conv_buffer_size, int32_t(TransposeConv, Dims, Dims));
FUNCTION(arm_fully_connected_s8, Status(Context, FullyConnected, PerTensor, Dims, In, Dims, In, Dims, Bias, Dims, Out));
FUNCTION(arm_fully_connected_per_channel_s8,
         Status(Context, FullyConnected, PerChannel, Dims, In, Dims, In, Dims, Bias, Dims, Out));
FUNCTION(arm_fully_connected_s8_get_buffer_size, int32_t(Dims));
FUNCTION(arm_batch_matmul_s8, Status(Context, const cmsis_nn_bmm_params*, PerTensor, Dims, In, Dims, In, Dims, Out));
FUNCTION(arm_avgpool_s8, Status(Context, Pool, Dims, In, Dims, Dims, Out));
FUNCTION(arm_avgpool_s8_get_buffer_size, int32_t(int, int));
FUNCTION(arm_max_pool_s8, Status(Context, Pool, Dims, In, Dims, Dims, Out));
FUNCTION(arm_elementwise_add_s8, Status(In, In, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, Out,
                                        int32_t, int32_t, int32_t, int32_t, int32_t, int32_t));
FUNCTION(arm_elementwise_mul_s8,
         Status(In, In, int32_t, int32_t, Out, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t));
FUNCTION(arm_minimum_s8, Status(Context, In, Dims, In, Dims, Out, Dims));
FUNCTION(arm_maximum_s8, Status(Context, In, Dims, In, Dims, Out, Dims));
FUNCTION(arm_pad_s8, Status(In, Out, int8_t, Dims, Dims, Dims));
FUNCTION(arm_transpose_s8, Status(In, Out, Dims, Dims, const cmsis_nn_transpose_params*));
FUNCTION(arm_softmax_s8, void(In, int32_t, int32_t, int32_t, int32_t, int32_t, Out));

#undef FUNCTION

// Aggregates are written without names of fields: their order counts, too.

TEST(CmsisNn, FieldsInOrder) {
  const cmsis_nn_tile tile = {1, 2};
  EXPECT_TRUE(tile.w == 1 && tile.h == 2);
  const cmsis_nn_dims dims = {1, 2, 3, 4};
  EXPECT_TRUE(dims.n == 1 && dims.h == 2 && dims.w == 3 && dims.c == 4);
  const cmsis_nn_activation activation = {-3, 4};
  EXPECT_TRUE(activation.min == -3 && activation.max == 4);
  int32_t values[2] = {};
  const cmsis_nn_context context = {values, 8};
  EXPECT_TRUE(context.buf == values && context.size == 8);
  const cmsis_nn_per_channel_quant_params per_channel = {values, values + 1};
  EXPECT_TRUE(per_channel.multiplier == values && per_channel.shift == values + 1);
  const cmsis_nn_per_tensor_quant_params per_tensor = {1, 2};
  EXPECT_TRUE(per_tensor.multiplier == 1 && per_tensor.shift == 2);
}

TEST(CmsisNn, FieldsOfParametersInOrder) {
  const cmsis_nn_conv_params conv = {1, 2, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
  EXPECT_TRUE(conv.input_offset == 1 && conv.output_offset == 2 && conv.stride.w == 3 && conv.padding.w == 5 &&
              conv.dilation.w == 7 && conv.activation.min == 9);
  const cmsis_nn_dw_conv_params depthwise = {1, 2, 11, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
  EXPECT_TRUE(depthwise.ch_mult == 11 && depthwise.stride.w == 3 && depthwise.padding.w == 5 &&
              depthwise.dilation.w == 7 && depthwise.activation.min == 9);
  const cmsis_nn_transpose_conv_params transposed = {1, 2, {3, 4}, {5, 6}, {11, 12}, {7, 8}, {9, 10}};
  EXPECT_TRUE(transposed.stride.w == 3 && transposed.padding.w == 5 && transposed.padding_offsets.w == 11 &&
              transposed.dilation.w == 7 && transposed.activation.min == 9);
  const cmsis_nn_pool_params pool = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_TRUE(pool.stride.w == 1 && pool.padding.w == 3 && pool.activation.min == 5);
  const cmsis_nn_fc_params connected = {1, 2, 3, {4, 5}};
  EXPECT_TRUE(connected.input_offset == 1 && connected.filter_offset == 2 && connected.output_offset == 3 &&
              connected.activation.min == 4);
  const cmsis_nn_bmm_params product = {true, false, {1, 2, 3, {4, 5}}};
  EXPECT_TRUE(product.adj_x && !product.adj_y && product.fc_params.filter_offset == 2);
  const uint32_t permutation[1] = {0};
  const cmsis_nn_transpose_params transpose = {1, permutation};
  EXPECT_TRUE(transpose.num_dims == 1 && transpose.permutations == permutation);
}

TEST(CmsisNn, Statuses) {
  EXPECT_EQ(ARM_CMSIS_NN_SUCCESS, 0);
  EXPECT_EQ(ARM_CMSIS_NN_ARG_ERROR, -1);
  EXPECT_EQ(ARM_CMSIS_NN_NO_IMPL_ERROR, -2);
}

}  // namespace
