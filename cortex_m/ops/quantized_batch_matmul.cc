#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// A contiguous int8 tensor of rank 3 or 4 as {n, h, rows, columns}.
bool ReadMatrices(const Tensor& tensor, cmsis_nn_dims* dims) {
  if (tensor.rank == 4) return ReadContiguous4(tensor, dims);
  if (tensor.rank != 3 || !IsContiguous(tensor)) return false;
  *dims = {1, tensor.sizes[0], tensor.sizes[1], tensor.sizes[2]};
  return dims->h > 0 && dims->w > 0 && dims->c > 0 && ElementCount(tensor) <= INT32_MAX;
}

bool Serves(int32_t size, int32_t wanted) { return size == wanted || size == 1; }

}  // namespace

// lhs_zero_point and rhs_zero_point are minus the zero points, as input_offset is elsewhere: upstream's programs have them so.
Status quantized_batch_matmul_out(KernelContext& context, const Tensor& lhs, int64_t lhs_zero_point,
                                  const Tensor& rhs_transposed, int64_t rhs_zero_point, int64_t output_zero_point,
                                  int64_t output_multiplier, int64_t output_shift, Tensor& scratch, const Tensor& out) {
  if (lhs.dtype != ScalarType::kChar || rhs_transposed.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("batch_matmul: both operands and the output must be int8");
  }
  cmsis_nn_dims left, right, product;
  if (lhs.rank != out.rank || rhs_transposed.rank != out.rank || !ReadMatrices(lhs, &left) ||
      !ReadMatrices(rhs_transposed, &right) || !ReadMatrices(out, &product)) {
    return context.Fail(
        "batch_matmul: operands and output are not contiguous, not all of rank 3 or all of rank 4, or empty");
  }
  if (left.c != right.c || left.w != product.w || right.w != product.c) {
    return context.Fail("batch_matmul: [M, K] times [N, K] does not give an output of this size");
  }
  if (!Serves(left.n, product.n) || !Serves(right.n, product.n) || !Serves(left.h, product.h) ||
      !Serves(right.h, product.h) || (left.n != product.n && right.n != product.n) ||
      (left.h != product.h && right.h != product.h)) {
    return context.Fail("batch_matmul: the batch sizes of the operands do not give those of the output");
  }
  cmsis_nn_fc_params fc = {0, 0, 0, {-128, 127}};
  if (!Narrow(lhs_zero_point, -127, 128, &fc.input_offset) || !Narrow(rhs_zero_point, -127, 128, &fc.filter_offset)) {
    return context.Fail("batch_matmul: lhs_zero_point or rhs_zero_point (minus the zero point) is outside -127..128");
  }
  if (!Narrow(output_zero_point, -128, 127, &fc.output_offset)) {
    return context.Fail("batch_matmul: output_zero_point is outside -128..127");
  }
  cmsis_nn_per_tensor_quant_params quant;
  if (!Narrow(output_multiplier, kMinMultiplier, INT32_MAX, &quant.multiplier) ||
      !Narrow(output_shift, -31, 30, &quant.shift)) {
    return context.Fail("batch_matmul: output_multiplier is not in -(2^31-1)..2^31-1, or output_shift outside -31..30");
  }
  const cmsis_nn_dims filter = {right.c, 1, 1, right.w};
  const cmsis_nn_context memory = Scratch(scratch);
  if (memory.size < arm_fully_connected_s8_get_buffer_size(&filter)) {
    return context.Fail("batch_matmul: scratch is smaller than the kernel library needs on this core");
  }
  // One call a matrix: how operands are broadcast is decided here, not in a library.
  const cmsis_nn_bmm_params params = {false, false, fc};
  const cmsis_nn_dims l = {1, 1, left.w, left.c}, r = {1, 1, right.w, right.c}, o = {1, 1, product.w, product.c};
  int8_t* to = out.mutable_as<int8_t>();
  for (int32_t n = 0; n < product.n; ++n) {
    for (int32_t h = 0; h < product.h; ++h, to += product.w * product.c) {
      const int32_t left_matrix = (left.n == 1 ? 0 : n) * left.h + (left.h == 1 ? 0 : h);
      const int32_t right_matrix = (right.n == 1 ? 0 : n) * right.h + (right.h == 1 ? 0 : h);
      if (arm_batch_matmul_s8(&memory, &params, &quant, &l, lhs.as<int8_t>() + left_matrix * left.w * left.c, &r,
                              rhs_transposed.as<int8_t>() + right_matrix * right.w * right.c, &o,
                              to) != ARM_CMSIS_NN_SUCCESS) {
        return context.Fail("batch_matmul: the kernel library refused the arguments");
      }
    }
  }
  return Status();
}

}  // namespace cortex_m::ops
