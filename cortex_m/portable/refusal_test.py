"""What a kernel cannot do it refuses with a sentence: never a wrong result, never a write outside of its out tensors."""

import pytest
import torch

from cortex_m.portable.conformance import make, refuses
from cortex_m.portable.kernel_library import KernelError, call, empty_out, kernel_names, overload

F, I8, I64, B = torch.float32, torch.int8, torch.int64, torch.bool
f = make((2, 3))
f4 = make((1, 2, 4, 4))
i8 = make((2, 3), I8)
b = make((2, 3), B)
idx = torch.tensor([0, 1])
wrong_sizes = "the out tensor does not have the sizes of the result"
dim_range = "dim is out of range"


def out(*sizes, dtype=F):
    return [empty_out(sizes, dtype)]


DEEP = torch.zeros((1,) * 17)

CASES = [
    # name, arguments, out tensors, part of the sentence
    ("add.out", (f, make((2,))), out(2, 3), "cannot be broadcast"),
    ("add.out", (make((1, 3)), make((1, 3))), out(2, 3), wrong_sizes),
    ("add.out", (f, f), out(3), "cannot be broadcast"),
    ("add.out", (f, f), out(2, 3, dtype=I8), "cannot hold the type of the result"),
    ("add.out", (i8, i8), out(2, 3, dtype=B), "cannot hold the type of the result"),
    ("add.out", (f.double(), f), out(2, 3), "portable kernels take float32"),
    ("add.out", (f.half(), f), out(2, 3), "portable kernels take float32"),
    ("add.out", (f, f), out(2, 3, dtype=torch.float64), "portable kernels take float32"),
    ("add.out", (DEEP, f), out(2, 3), "more than 16 dimensions"),
    ("add.out", (i8, i8, 1.5), out(2, 3, dtype=I8), "alpha of integer tensors must be an integer"),
    ("add.out", (i8, i8, True), out(2, 3, dtype=I8), "alpha may be a bool for bool tensors only"),
    ("sub.out", (b, b), out(2, 3, dtype=B), "bools cannot be subtracted"),
    ("sub.out", (i8, b), out(2, 3, dtype=I8), "bools cannot be subtracted"),
    ("rsub.Scalar_out", (i8, True), out(2, 3, dtype=I8), "bools cannot be subtracted"),
    ("div.out_mode", (i8, torch.zeros_like(i8), "trunc"), out(2, 3, dtype=I8), "an integer is divided by zero"),
    ("remainder.Scalar_out", (i8, 0), out(2, 3, dtype=I8), "an integer is divided by zero"),
    ("floor_divide.out", (b, b), out(2, 3, dtype=B), "two bools cannot be divided"),
    ("div.out_mode", (f, f, "round"), out(2, 3), "rounding_mode must be None, trunc or floor"),
    ("clamp.out", (f, None, None), out(2, 3), "clamp needs a bound"),
    ("clamp.Tensor_out", (f, None, None), out(2, 3), "clamp needs a bound"),
    ("clamp.out", (i8, -1000, None), out(2, 3, dtype=I8), "a bound is out of range of the element type"),
    ("clamp.out", (b, False, True), out(2, 3, dtype=B), "bools cannot be clamped"),
    ("hardtanh.out", (i8, -1, 1000), out(2, 3, dtype=I8), "a bound is out of range of the element type"),
    ("hardtanh.out", (i8.to(torch.uint8), -1, 1), out(2, 3, dtype=torch.uint8), "an unsigned type has no negative bounds"),
    ("hardtanh.out", (b, 0, 1), out(2, 3, dtype=B), "bools cannot be clamped"),
    ("relu.out", (b,), out(2, 3, dtype=B), "bools have no relu"),
    ("bitwise_and.Tensor_out", (f, f), out(2, 3), "defined for integers and bool only"),
    ("bitwise_not.out", (f,), out(2, 3), "defined for integers and bool only"),
    ("neg.out", (b,), out(2, 3, dtype=B), "bools have no negative"),
    ("abs.out", (b,), out(2, 3, dtype=B), "bools have no absolute value"),
    ("floor.out", (b,), out(2, 3, dtype=B), "bools cannot be rounded"),
    ("round.decimals_out", (i8, 1), out(2, 3, dtype=I8), "only float32 is rounded to decimals"),
    ("round.decimals_out", (f, 39), out(2, 3), "no such power of ten"),
    ("exp.out", (i8,), out(2, 3, dtype=I8), "cannot hold the type of the result"),
    ("gelu.out", (i8,), out(2, 3, dtype=I8), "the activation is defined for float32 only"),
    ("leaky_relu.out", (i8,), out(2, 3, dtype=I8), "the activation is defined for float32 only"),
    ("pow.Tensor_Scalar_out", (i8, -1), out(2, 3, dtype=I8), "an integer tensor has no negative powers"),
    ("pow.Tensor_Tensor_out", (b, b), out(2, 3, dtype=B), "bools have no powers"),
    ("pow.Scalar_out", (True, b), out(2, 3, dtype=B), "bools have no powers"),
    ("pow.Tensor_Scalar_out", (b, True), out(2, 3, dtype=B), "bools have no powers"),
    ("where.self_out", (i8, f, f), out(2, 3), "a condition must be bool"),
    ("masked_fill.Scalar_out", (f, i8, 1.0), out(2, 3), "a mask must be bool"),
    ("masked_fill.Scalar_out", (i8, b, 1000), out(2, 3, dtype=I8), "the value is out of range of the element type"),
    # Movement.
    ("clone.out", (f,), out(3, 2), wrong_sizes),
    ("clone.out", (f,), out(2, 3, dtype=I8), "another element type than the input"),
    ("clone.out", (f4, torch.channels_last), out(1, 2, 4, 4), "memory_format differs from the layout"),
    ("clone.out", (DEEP,), [empty_out((1,) * 17, F)], "more than 16 dimensions"),
    ("copy.out", (f, i8), out(2, 3, dtype=I8), "another element type than self"),
    ("copy.out", (f, f), out(3, 3), wrong_sizes),
    ("_to_copy.out", (f.double(),), out(2, 3), "portable kernels take float32"),
    ("_to_copy.out", (f,), out(3, 2), wrong_sizes),
    ("view_copy.out", (f, [3, 2]), out(2, 3), wrong_sizes),
    ("view_copy.out", (f, [7]), out(7), "another number of elements"),
    ("view_copy.out", (f, [-1, -1]), out(2, 3), "only one of the sizes of a view can be -1"),
    ("unsqueeze_copy.out", (f, 4), out(2, 3, 1), dim_range),
    ("unsqueeze_copy.out", (f, 0), out(2, 3, 1), wrong_sizes),
    ("squeeze_copy.dim_out", (f, 2), out(2, 3), dim_range),
    ("squeeze_copy.dims_out", (f, [0, 0]), out(2, 3), "a dim appears twice"),
    ("squeeze_copy.out", (make((1, 3)),), out(1, 3), wrong_sizes),
    ("permute_copy.out", (f, [0]), out(2, 3), "dims does not have one entry a dimension"),
    ("permute_copy.out", (f, [0, 0]), out(2, 2), "a dim appears twice"),
    ("permute_copy.out", (f, [1, 0]), out(2, 3), wrong_sizes),
    ("transpose_copy.int_out", (f, 0, 2), out(3, 2), dim_range),
    ("t_copy.out", (make((1, 2, 3)),), out(3, 2, 1), "t takes at most two dimensions"),
    ("slice_copy.Tensor_out", (f, 0, 0, 1, 0), out(1, 3), "the step of a slice must be positive"),
    ("slice_copy.Tensor_out", (f, 2), out(2, 3), dim_range),
    ("slice_copy.Tensor_out", (f, 0, 0, 1), out(2, 3), wrong_sizes),
    ("slice_copy.Tensor_out", (make(()), 0), out(), "cannot be sliced"),
    ("narrow_copy.out", (f, 0, 3, 1), out(1, 3), "start is out of range"),
    ("narrow_copy.out", (f, 0, 1, 2), out(2, 3), "goes beyond the end"),
    ("select_copy.int_out", (f, 0, 2), out(3), "index is out of range"),
    ("select_copy.int_out", (make(()), 0, 0), out(), "nothing can be selected"),
    ("slice_scatter.out", (f, f, 0, 0, 1), out(2, 3), "src does not have the sizes of the slice"),
    ("select_scatter.out", (f, make((2,)), 0, 0), out(2, 3), "src does not have the sizes of the slice"),
    ("select_scatter.out", (f, make((3,), I8), 0, 0), out(2, 3), "another element type"),
    ("cat.out", ([], 0), out(2, 3), "there is nothing to concatenate"),
    ("cat.out", ([make(()), make(())], 0), out(2), "the tensors differ in rank"),
    ("cat.out", ([f, make((2, 2, 1))], 0), out(4, 3), "the tensors differ in rank"),
    ("cat.out", ([f, make((2, 2))], 0), out(4, 3), "differ in another size than that of dim"),
    ("cat.out", ([f, f], 0), out(5, 3), wrong_sizes),
    ("cat.out", ([f, f], 2), out(4, 3), dim_range),
    ("cat.out", ([f, i8], 0), out(4, 3, dtype=I8), "cannot hold the type of an input"),
    ("cat.out", ([f.double(), f], 0), out(4, 3), "portable kernels take float32"),
    ("stack.out", ([], 0), out(2, 3), "there is nothing to stack"),
    ("stack.out", ([f, f], 0), out(3, 2, 3), wrong_sizes),
    ("stack.out", ([f, f], 3), out(2, 2, 3), dim_range),
    ("expand_copy.out", (f, [4, 3]), out(4, 3), "only dimensions of size 1 can be expanded"),
    ("expand_copy.out", (f, [2, 3]), out(2, 4), wrong_sizes),
    ("repeat.out", (f, [2]), out(2, 3), "repeats must have an entry for each dimension"),
    ("repeat.out", (f, [2, 2]), out(4, 3), wrong_sizes),
    ("flip.out", (f, [0, -2]), out(2, 3), "a dim appears twice"),
    ("roll.out", (f, [1, 2], [0]), out(2, 3), "shifts and dims differ in length"),
    ("roll.out", (f, [], []), out(2, 3), "roll needs at least one shift"),
    ("roll.out", (f, [1], [2]), out(2, 3), dim_range),
    ("roll.out", (make((2, 3), order=(1, 0)), [1], []), out(2, 3), "roll without dims takes contiguous tensors"),
    ("constant_pad_nd.out", (f, [1, 1, 1]), out(2, 5), "pad must have two entries a dimension"),
    ("constant_pad_nd.out", (f, [1, 1]), out(2, 4), wrong_sizes),
    ("constant_pad_nd.out", (i8, [1, 1], 1000), out(2, 5, dtype=I8), "value is out of range"),
    # Sums and products that 64 bits do not hold.
    ("constant_pad_nd.out", (f, [2**63 - 1, 4]), out(2, 3), wrong_sizes),
    ("constant_pad_nd.out", (f, [2**63 - 1, -(2**63)]), out(2, 2), wrong_sizes),
    ("reflection_pad1d.out", (f, [2**63 - 1, -(2**63)]), out(2, 2), wrong_sizes),
    ("replication_pad1d.out", (f, [2**63 - 1, 2**63 - 1]), out(2, 1), wrong_sizes),
    ("repeat.out", (f, [1, 3074457345618258603]), out(2, 9), wrong_sizes),
    ("reflection_pad1d.out", (f, [3, 0]), out(2, 6), "a reflection padding must be smaller"),
    ("reflection_pad1d.out", (f4, [1, 1]), out(1, 2, 4, 6), "must have the padded dimensions"),
    ("reflection_pad2d.out", (f4, [1, 1]), out(1, 2, 4, 6), "padding must have two entries"),
    ("replication_pad1d.out", (make((2, 0)), [1, 1]), out(2, 2), "a dimension without elements cannot be padded"),
    ("replication_pad1d.out", (f, [-3, 2]), out(2, 2), "a negative padding leaves nothing"),
    ("pixel_shuffle.out", (f4, 2), out(1, 1, 8, 8), wrong_sizes),
    ("pixel_shuffle.out", (f4, 0), out(1, 2, 4, 4), "the factor must be positive"),
    ("pixel_shuffle.out", (f, 1), out(2, 3), "must have a channel, a height and a width"),
    ("as_strided_copy.out", (f, [3], [3]), out(3), "goes beyond the end of the input"),
    ("as_strided_copy.out", (f, [3], [-1]), out(3), "strides must not be negative"),
    ("as_strided_copy.out", (f, [1], [1], 6), out(1), "storage_offset is outside of the input"),
    ("as_strided_copy.out", (f, [1], []), out(1), "size and stride differ in length"),
    ("as_strided_copy.out", (make((2, 3), order=(1, 0)), [1], [1]), out(1), "takes a contiguous input"),
    ("diagonal_copy.out", (f, 0, 1, 1), out(2), "a diagonal needs two different dims"),
    ("diagonal_copy.out", (f, 0, 0, 2), out(2), dim_range),
    ("unfold_copy.out", (f, 1, 4, 1), out(2, 1, 4), "the window is larger than the dimension"),
    ("unfold_copy.out", (f, 1, 2, 0), out(2, 1, 2), "step must be positive"),
    ("tril.out", (make((3,)),), out(3), "a triangle needs two dimensions"),
    ("upsample_nearest2d.vec_out", (f4, [8, 8], [2.0, 2.0]), out(1, 2, 8, 8), "exactly one of output_size and scale_factors"),
    ("upsample_nearest2d.vec_out", (f4, [8], None), out(1, 2, 8, 8), "output_size must have two entries"),
    ("upsample_nearest2d.vec_out", (f4, None, [2.0, 0.0]), out(1, 2, 8, 8), "a scale factor must be positive"),
    ("upsample_nearest2d.vec_out", (f4, None, [2.0]), out(1, 2, 8, 8), "scale_factors must have two entries"),
    ("upsample_nearest2d.vec_out", (f4, None, [2.0, 2.0]), out(1, 2, 8, 9), wrong_sizes),
    ("upsample_nearest2d.vec_out", (f, [8, 8], None), out(8, 8), "takes tensors of four dimensions"),
    ("upsample_bilinear2d.vec_out", (f4.to(I8), [8, 8], True, None), out(1, 2, 8, 8, dtype=I8), "of float32 only"),
    ("upsample_bilinear2d.vec_out", (make((1, 2, 0, 4)), [8, 8], True, None), out(1, 2, 8, 8), "an image without pixels"),
    ("index_select.out", (f, 0, torch.tensor([2])), out(1, 3), "an index is out of range"),
    ("index_select.out", (f, 0, torch.tensor([-1])), out(1, 3), "an index is out of range"),
    ("index_select.out", (f, 0, torch.tensor([0.0])), out(1, 3), "an index must be int64 or int32"),
    ("index_select.out", (f, 0, torch.tensor([[0]])), out(1, 3), "at most one dimension"),
    ("embedding.out", (f, torch.tensor([2])), out(1, 3), "an index is out of range"),
    ("embedding.out", (make((3,)), idx), out(2), "the weight of an embedding must have two dimensions"),
    ("embedding.out", (f, idx), out(3, 3), wrong_sizes),
    ("gather.out", (f, 1, torch.tensor([[3], [0]])), out(2, 1), "an index is out of range"),
    ("gather.out", (f, 1, torch.tensor([0])), out(1), "index and tensor differ in rank"),
    ("gather.out", (f, 1, torch.zeros((3, 1), dtype=I64)), out(3, 1), "the index is larger than the tensor"),
    ("scatter.src_out", (f, 1, torch.zeros((2, 4), dtype=I64), f), out(2, 3), "the index is larger than src"),
    ("scatter.src_out", (f, 1, torch.zeros((2, 1), dtype=I64), i8), out(2, 3), "src has another element type than self"),
    ("scatter.value_out", (i8, 1, torch.zeros((2, 1), dtype=I64), 1000), out(2, 3, dtype=I8), "value is out of range"),
    ("scatter_add.out", (f, 1, torch.full((2, 1), 5), f), out(2, 3), "an index is out of range"),
    ("index.Tensor_out", (f, [torch.tensor([2])]), out(1, 3), "an index is out of range"),
    ("index.Tensor_out", (f, [torch.tensor([-3])]), out(1, 3), "an index is out of range"),
    ("index.Tensor_out", (f, [None, None]), out(2, 3), "no index is given"),
    ("index.Tensor_out", (f, [idx, idx, idx]), out(2), "more indices than dimensions"),
    ("index.Tensor_out", (f, [idx, torch.tensor([0, 1, 2])]), out(3), "cannot be broadcast against each other"),
    ("index.Tensor_out", (f, [torch.tensor([True, False]), idx]), out(2), "a mask cannot be combined"),
    ("index.Tensor_out", (f, [torch.tensor([True, False, True])]), out(2, 3), "the mask does not fit"),
    ("index.Tensor_out", (f, [torch.tensor([True, False])]), out(2, 3), wrong_sizes),
    ("index_put.out", (f, [idx], make((2, 2))), out(2, 3), "values cannot be broadcast"),
    ("index_put.out", (f, [idx], i8), out(2, 3), "values has another element type than self"),
    ("full.out", ([2, 3], 1000), out(2, 3, dtype=I8), "out of range of the element type"),
    ("full.out", ([2, 3], 1), out(2, 2), wrong_sizes),
    ("full.out", ([2, 3], 1), out(2, 3, dtype=torch.float16), "portable kernels take float32"),
    ("fill.Scalar_out", (f, 1), out(2, 3, dtype=I8), "another element type than self"),
    ("fill.Tensor_out", (f, f), out(2, 3), "the value must be a tensor without dimensions"),
    ("scalar_tensor.out", (1.0,), out(1), wrong_sizes),
    ("arange.out", (5,), out(4), wrong_sizes),
    ("arange.start_out", (0, 5, 0), out(5), "the step of arange must not be zero"),
    ("arange.start_out", (0, 5, -1), out(5), "do not agree with the sign of its step"),
    ("arange.out", (2,), out(2, dtype=B), "arange does not make bools"),
    # Reductions.
    ("sum.IntList_out", (f, [2]), out(2), dim_range),
    ("sum.IntList_out", (f, [0, 0]), out(3), "a dim appears twice"),
    ("sum.IntList_out", (f, [0]), out(2), wrong_sizes),
    ("mean.out", (i8, [0]), out(3, dtype=I8), "a mean is float32"),
    ("var.out", (i8, [0]), out(3), "a variance is of float32"),
    ("amax.out", (make((0, 3)), [0]), out(3), "there is no extremum of no elements"),
    ("amax.out", (f, [0]), out(3, dtype=I8), "another element type than the input"),
    ("argmax.out", (f, 0), out(3), "indices are int64"),
    ("max.dim_max", (f, 2), out(2) + out(2, dtype=I64), dim_range),
    ("any.out", (f, 0), out(3), "the out tensor must be bool"),
    ("cumsum.out", (f, 2), out(2, 3), dim_range),
    ("cumsum.out", (b, 0), out(2, 3, dtype=B), "no running sums of bools"),
    ("_softmax.out", (i8, 1, False), out(2, 3, dtype=I8), "softmax is defined for float32 only"),
    ("_softmax.out", (f, 1, True), out(2, 3), "half_to_float"),
    ("_log_softmax.out", (f, 2, False), out(2, 3), dim_range),
    ("topk.values", (f, 4, 1), out(2, 4) + out(2, 4, dtype=I64), "k is larger than the dimension"),
    ("topk.values", (f, -1, 1), out(2, 4) + out(2, 4, dtype=I64), "k must not be negative"),
    ("sort.values", (f, 1), out(2, 3) + out(2, 3, dtype=torch.int32), "indices are int64"),
    # Layers.
    ("mm.out", (f, f), out(2, 3), "the factors' sizes do not agree"),
    ("mm.out", (f, make((3, 4))), out(2, 3), wrong_sizes),
    ("mm.out", (f, make((3, 4), I8)), out(2, 4), "must have one element type"),
    ("mm.out", (b, b.t()), out(2, 2, dtype=B), "bools have no matrix product"),
    ("mm.out", (make((3,)), f), out(3), "mm takes matrices"),
    ("bmm.out", (make((1, 2, 3)), make((2, 3, 4))), out(1, 2, 4), "the batches differ"),
    ("bmm.out", (f, f), out(2, 3), "three dimensions"),
    ("mv.out", (f, f), out(2), "mv takes a matrix and a vector"),
    ("dot.out", (f, f), out(), "dot takes vectors"),
    ("addmm.out", (make((3,)), f, make((3, 4))), out(2, 4), "self cannot be broadcast"),
    ("addmm.out", (i8[:, :1], i8, i8.t(), 0.5), out(2, 2, dtype=I8), "alpha and beta of integer tensors must be integers"),
    ("linear.out", (f, make((4, 3)), make((3,))), out(2, 4), "the bias must be \\[N\\]"),
    ("linear.out", (f, make((4, 2))), out(2, 4), "the factors' sizes do not agree"),
    ("convolution.out", (f4, make((1, 2, 3, 3)), None, [0, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 2), "stride and dilation must be positive"),
    ("convolution.out", (f4, make((1, 2, 3, 3)), None, [1, 1], [-1, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 2), "must not be negative"),
    ("convolution.out", (f4, make((1, 2, 3, 3)), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 3), wrong_sizes),
    ("convolution.out", (f4, make((1, 1, 3, 3)), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 2), "another number of input channels"),
    ("convolution.out", (f4, make((3, 1, 3, 3)), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 3), out(1, 3, 2, 2), "cannot be divided into the groups"),
    ("convolution.out", (f4, make((1, 2, 3, 3)), make((2,)), [1, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 2), "the bias must be float32, one a channel"),
    ("convolution.out", (f4.to(I8), make((1, 2, 3, 3), I8), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 1, 2, 2, dtype=I8), "defined for float32 only"),
    ("convolution.out", (make((1, 2, 4, 4, 4)), make((1, 2, 3, 3, 3)), None, [1] * 3, [0] * 3, [1] * 3, False, [0] * 3, 1), out(1, 1, 2, 2, 2), "one or two spatial dimensions"),
    ("convolution.out", (f4[0], make((1, 2, 3, 3)), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), out(1, 2, 2), "differ in their number of dimensions"),
    ("avg_pool2d.out", (f4.to(I8), [2, 2]), out(1, 2, 2, 2, dtype=I8), "averages are of float32 only"),
    ("avg_pool2d.out", (f4, [2, 2], [], [2, 2]), out(1, 2, 4, 4), "padding must be at most half of the kernel"),
    ("avg_pool2d.out", (f4, [2, 2], [], [0, 0], False, True, 0), out(1, 2, 2, 2), "divisor_override must not be zero"),
    ("avg_pool2d.out", (f4, [0, 2]), out(1, 2, 2, 2), "kernel_size must be positive"),
    ("avg_pool2d.out", (f, [2, 2]), out(1, 1), "pooling takes its spatial dimensions"),
    ("avg_pool1d.out", (make((1, 2, 4)), [2], [0]), out(1, 2, 2), "stride and dilation must be positive"),
    ("max_pool2d_with_indices.out", (f4, [2, 2]), out(1, 2, 2, 2) + out(1, 2, 2, 2, dtype=torch.int32), "indices are int64"),
    ("max_pool2d_with_indices.out", (f4 > 0, [2, 2]), out(1, 2, 2, 2, dtype=B) + out(1, 2, 2, 2, dtype=I64), "bools have no maximum"),
    ("_adaptive_avg_pool2d.out", (f4, [2, 2]), out(1, 2, 2, 3), wrong_sizes),
    ("_adaptive_avg_pool2d.out", (make((1, 2, 0, 4)), [2, 2]), out(1, 2, 2, 2), "no average of no elements"),
    ("native_layer_norm.out", (f, [2], None, None, 1e-5), out(2, 3) + out(2, 1) + out(2, 1), "does not end with normalized_shape"),
    ("native_layer_norm.out", (f, [3], make((2,)), None, 1e-5), out(2, 3) + out(2, 1) + out(2, 1), "must have normalized_shape"),
    ("native_layer_norm.out", (f, [], None, None, 1e-5), out(2, 3) + out(2, 3) + out(2, 3), "1 to all dimensions"),
    ("native_layer_norm.out", (i8, [3], None, None, 1e-5), out(2, 3, dtype=I8) + out(2, 1) + out(2, 1), "normalization is defined for float32 only"),
    ("native_group_norm.out", (f4, None, None, 1, 2, 16, 3, 1e-5), out(1, 2, 4, 4) + out(1, 3) + out(1, 3), "cannot be divided into the groups"),
    ("native_group_norm.out", (f4, None, None, 1, 2, 15, 1, 1e-5), out(1, 2, 4, 4) + out(1, 1) + out(1, 1), "HxW elements a channel"),
    ("native_group_norm.out", (f4, make((3,)), None, 1, 2, 16, 1, 1e-5), out(1, 2, 4, 4) + out(1, 1) + out(1, 1), "weight and bias must be"),
    ("_native_batch_norm_legit_no_training.out", (f4, None, None, make((3,)), make((2,)), 0.1, 1e-5), out(1, 2, 4, 4) + out(0) + out(0), "running_mean and running_var must be"),
    ("glu.out", (make((2, 3)), 1), out(2, 1), "the dimension cannot be halved"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[3][:40]}")
def test_refusals(case):
    name, arguments, outs, match = case
    refuses(f"aten::{name}", *arguments, outs=outs, match=match)


@pytest.mark.parametrize(("name", "arguments", "outs", "match"), [
    ("split_copy.Tensor_out", (f, 2, 1), out(2, 2), "the number of out tensors is not the number of parts"),
    ("split_copy.Tensor_out", (f, 0, 1), out(2, 3), "split_size must be positive"),
    ("split_copy.Tensor_out", (f, 2, 1), out(2, 2) + out(2, 2), wrong_sizes),
    ("split_copy.Tensor_out", (f, 3, 1), [empty_out((2, 3), F, constant=True)], "an out tensor is a constant"),
    ("split_with_sizes_copy.out", (f, [1, 1], 1), out(2, 1) + out(2, 1), "do not add up"),
    ("split_with_sizes_copy.out", (f, [4, -1], 1), out(2, 4) + out(2, 1), "do not add up"),
    ("unbind_copy.int_out", (f, 0), out(3), "the number of out tensors is not the number of parts"),
    ("unbind_copy.int_out", (make(()), 0), out(3), "cannot be split"),
])  # fmt: skip
def test_refusals_with_a_list_of_outs(name, arguments, outs, match):
    refuses(f"aten::{name}", *arguments, outs=outs, match=match, out_list=True)


def test_dim_orders():
    nhwc = empty_out((1, 2, 4, 4), F, (0, 2, 3, 1))
    for dim_order, match in [
        ([0, 1, 2, 3], "differs from that of the out tensor"),
        ([0, 2, 3], "one entry a dimension"),
        ([0, 2, 2, 1], "no order of the dimensions"),
        ([0, 2, 3, 4], "no order of the dimensions"),
    ]:
        for name in ["_clone_dim_order", "_to_dim_order_copy"]:
            refuses(f"dim_order_ops::{name}.out", f4, dim_order=dim_order, outs=[nhwc], match=match)


def test_a_constant_is_never_written():
    refuses("aten::add.out", f, f, outs=[empty_out((2, 3), F, constant=True)], match="a constant")


def _sample(argument):
    """Some argument of that type, of rank 17 where it is a tensor."""
    type_ = str(argument.type)
    if type_ == "Tensor":
        return DEEP
    if type_ == "Optional[Tensor]":
        return None
    if "List[Optional[Tensor]]" in type_:
        return [torch.tensor([0])]
    if "List[Tensor]" in type_:
        return [DEEP]
    if argument.has_default_value():
        return argument.default_value
    if "Optional" in type_:
        return None
    if "List[int]" in type_:
        return [1]
    return {"int": 1, "number": 1, "float": 1.0, "bool": False, "str": "none"}[type_]


@pytest.mark.parametrize("name", kernel_names())
def test_no_kernel_takes_more_than_sixteen_dimensions(name):
    """Nor crashes on nonsense: the arguments agree in nothing but their types."""
    schema = overload(name)._schema
    arguments = [_sample(argument) for argument in schema.arguments if not argument.is_out]
    out_arguments = [argument for argument in schema.arguments if argument.is_out]
    outs = [empty_out((1,) * 17, F) for _ in out_arguments]
    with pytest.raises(KernelError):
        call(name, *arguments, outs=outs, out_list=any("List" in str(argument.type) for argument in out_arguments))


@pytest.mark.parametrize("name", kernel_names())
def test_arguments_are_counted_and_typed(name):
    """The unboxing derived from the schema refuses another number of arguments."""
    import ctypes

    from cortex_m.portable import kernel_library

    library = kernel_library._library()
    handle = ctypes.c_void_p(library.portable_new())
    try:
        assert (
            library.portable_run(handle, name.encode())
            == b"the call has another number of arguments than the kernel takes"
        )
        for _ in overload(name)._schema.arguments:
            library.portable_add_string(handle, b"?")
        assert library.portable_run(handle, name.encode()) == b"argument has another type than the kernel takes"
    finally:
        library.portable_delete(handle)
