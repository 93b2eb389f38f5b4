#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

Status transpose_out(KernelContext& context, const Tensor& input, IntList perm, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("transpose: input and output must be int8");
  }
  const int rank = input.rank;
  if (rank < 1 || rank > 4 || out.rank != rank || perm.size != static_cast<size_t>(rank)) {
    return context.Fail("transpose: input, output and perm must have one rank of 1..4");
  }
  uint32_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= rank || (seen & (1u << perm[i])) != 0) {
      return context.Fail("transpose: perm is no permutation of the dimensions");
    }
    seen |= 1u << perm[i];
    if (out.sizes[i] != input.sizes[perm[i]]) {
      return context.Fail("transpose: the output's sizes are not the input's in the order of perm");
    }
  }
  if (ElementCount(input) == 0) return Status();
  if (ElementCount(input) > INT32_MAX) return context.Fail("transpose: more than 2^31 - 1 elements");

  // The same permutation between the places that the dimensions have in memory, right-aligned in four dimensions.
  uint32_t place_in_input[4];
  for (int i = 0; i < rank; ++i) place_in_input[input.dim_order[i]] = static_cast<uint32_t>(i);
  const int lead = 4 - rank;
  int32_t in_sizes[4] = {1, 1, 1, 1};
  int32_t out_sizes[4] = {1, 1, 1, 1};
  uint32_t places[4] = {0, 1, 2, 3};
  for (int i = 0; i < rank; ++i) {
    in_sizes[lead + i] = input.sizes[input.dim_order[i]];
    out_sizes[lead + i] = out.sizes[out.dim_order[i]];
    places[lead + i] = static_cast<uint32_t>(lead) + place_in_input[perm[out.dim_order[i]]];
  }
  const cmsis_nn_dims in_dims = {in_sizes[0], in_sizes[1], in_sizes[2], in_sizes[3]};
  const cmsis_nn_dims out_dims = {out_sizes[0], out_sizes[1], out_sizes[2], out_sizes[3]};
  const cmsis_nn_transpose_params params = {4, places};
  if (arm_transpose_s8(input.as<int8_t>(), out.mutable_as<int8_t>(), &in_dims, &out_dims, &params) !=
      ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("transpose: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace cortex_m::ops
