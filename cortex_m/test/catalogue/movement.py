"""Calls of what moves values, joins and takes them apart, and of what makes tensors."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.test.catalogue.case import Calls, Function, between, booleans, integers, signed

_A = torch.ops.aten
_IMAGE = signed(1, 4, 6, 6)
_ROWS = signed(4, 12)
_SHAPES = {1: (9,), 2: (6, 6), 3: (4, 4, 4)}


def _input(dims: int):
    return signed(1, 4, *_SHAPES[dims])


shapes = Calls("Shapes, slices and joins", behind=True)
shapes.add("nn.Flatten", nn.Flatten, _IMAGE)
shapes.add("nn.Unflatten", lambda: nn.Unflatten(1, (2, 2)), _IMAGE)
shapes.add("nn.ChannelShuffle", lambda: nn.ChannelShuffle(2), _IMAGE)
shapes.add("nn.PixelShuffle", lambda: nn.PixelShuffle(2), _IMAGE)
shapes.add("nn.PixelUnshuffle", lambda: nn.PixelUnshuffle(2), _IMAGE)
shapes.add("nn.Unfold", lambda: nn.Unfold(3), _IMAGE)
shapes.add("nn.Fold", lambda: nn.Fold((4, 4), 2), signed(1, 8, 9))
shapes.function("F.channel_shuffle", lambda x: F.channel_shuffle(x, 2), _IMAGE)
shapes.function("F.native_channel_shuffle", lambda x: F.native_channel_shuffle(x, 2), _IMAGE)
shapes.function("F.pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), _IMAGE)
shapes.function("F.pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), _IMAGE)
shapes.function("F.unfold", lambda x: F.unfold(x, 3), _IMAGE)
shapes.function("F.fold", lambda x: F.fold(x, (4, 4), 2), signed(1, 8, 9))
for _name, _arguments in {
    "alias.default": (), "clone.default": (), "expand.default": ([3, 4, 12],), "permute.default": ([1, 0],), "view.default": ([6, 8],),
    "repeat.default": ([2, 1],), "select.int": (1, 3), "slice.Tensor": (1, 2, 9, 2), "squeeze.dim": (0,), "squeeze.dims": ([0, 1],),
    "unsqueeze.default": (0,), "split_with_sizes.default": ([5, 7], 1), "flip.default": ([1],), "diagonal.default": (),
    "as_strided.default": ([3, 4], [12, 1], 1), "_to_copy.default": (), "constant_pad_nd.default": ([1, 2], 0.5),
}.items():  # fmt: skip
    _packet, _overload = _name.split(".")
    shapes.function(
        f"aten.{_name}", lambda x, f=getattr(getattr(_A, _packet), _overload), a=_arguments: f(x, *a), _ROWS
    )
shapes.function("aten.cat.default", lambda x, y: _A.cat.default([x, y], 1), _ROWS, _ROWS)
shapes.function("aten.select_scatter.default", lambda x, y: _A.select_scatter.default(x, y, 0, 1), _ROWS, signed(12))
shapes.function("aten.slice_scatter.default", lambda x, y: _A.slice_scatter.default(x, y, 1, 2, 6), _ROWS, signed(4, 4))
shapes.function("aten.copy.default", _A.copy.default, _ROWS, _ROWS)
shapes.function(
    "aten.col2im.default", lambda x: _A.col2im.default(x, [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]), signed(1, 8, 9)
)
shapes.function("aten.resize_.default", lambda x: _A.resize_.default(x.clone(), [2, 12]), _ROWS)

padding = Calls("Padding", behind=True)
for _dims in (1, 2, 3):
    padding.add(f"nn.ConstantPad{_dims}d", lambda d=_dims: getattr(nn, f"ConstantPad{d}d")(1, 0.5), _input(_dims))
    for _kind in ("Circular", "Reflection", "Replication", "Zero"):
        padding.add(f"nn.{_kind}Pad{_dims}d", lambda n=f"{_kind}Pad{_dims}d": getattr(nn, n)(1), _input(_dims))
    padding.function(
        f"aten.reflection_pad{_dims}d.default",
        lambda x, f=getattr(_A, f"reflection_pad{_dims}d").default, d=_dims: f(x, [1] * 2 * d), _input(_dims),
    )  # fmt: skip
for _dims in (2, 3):
    padding.function(
        f"aten.replication_pad{_dims}d.default",
        lambda x, f=getattr(_A, f"replication_pad{_dims}d").default, d=_dims: f(x, [1] * 2 * d), _input(_dims),
    )  # fmt: skip
padding.function("F.pad", lambda x: F.pad(x, (1, 1, 2, 0)), _IMAGE)

resizing = Calls("Resizing and sampling", behind=True)
resizing.add("nn.Upsample", lambda: nn.Upsample(scale_factor=2), _IMAGE)
resizing.add("nn.UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), _IMAGE)
resizing.add("nn.UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), _IMAGE)
resizing.function("F.interpolate", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), _IMAGE)
resizing.function("F.upsample", lambda x: F.upsample(x, scale_factor=2), _IMAGE)
resizing.function("F.upsample_nearest", lambda x: F.upsample_nearest(x, scale_factor=2), _IMAGE)
resizing.function("F.upsample_bilinear", lambda x: F.upsample_bilinear(x, scale_factor=2), _IMAGE)
resizing.function("aten.upsample_nearest2d.vec", lambda x: _A.upsample_nearest2d.vec(x, None, [2.0, 2.0]), _IMAGE)
resizing.function(
    "aten.upsample_bilinear2d.vec", lambda x: _A.upsample_bilinear2d.vec(x, None, False, [2.0, 2.0]), _IMAGE
)
_GRID = between(-0.9, 0.9, 1, 5, 5, 2)
resizing.function(
    "F.grid_sample", lambda x, grid: F.grid_sample(x, grid, align_corners=False), _IMAGE, _GRID, behind=False
)
resizing.function(
    "aten.grid_sampler_2d.default",
    lambda x, grid: _A.grid_sampler_2d.default(x, grid, 0, 0, False),
    _IMAGE,
    _GRID,
    behind=False,
)
resizing.function(
    "F.affine_grid", lambda t: F.affine_grid(t, [1, 1, 5, 5], align_corners=False), signed(1, 2, 3), behind=False
)

indexing = Calls("Indexing")
_INDEX = torch.tensor([[0, 2], [1, 3]])
indexing.add(
    "aten.gather.default", lambda: Function(lambda x, index: _A.gather.default(x, 0, index), index=_INDEX), _ROWS
)
indexing.add("aten.index.Tensor", lambda: Function(lambda x, index: _A.index.Tensor(x, [index]), index=_INDEX), _ROWS)
indexing.add(
    "aten.index_select.default",
    lambda: Function(lambda x, index: _A.index_select.default(x, 1, index), index=_INDEX[0]),
    _ROWS,
)
indexing.add(
    "aten.index_put.default", lambda: Function(lambda x, y, index: _A.index_put.default(x, [index], y), index=_INDEX[0]),
    _ROWS, signed(2, 12),
)  # fmt: skip
indexing.function("aten.masked_scatter.default", _A.masked_scatter.default, _ROWS, booleans(4, 12), _ROWS)
indexing.function("aten.nonzero.default", _A.nonzero.default, booleans(4, 3))
for _name, _extra in {"scatter.src": (), "scatter_add.default": (), "scatter_reduce.two": ("sum",)}.items():
    _packet, _overload = _name.split(".")
    indexing.add(
        f"aten.{_name}",
        lambda f=getattr(getattr(_A, _packet), _overload), e=_extra: Function(lambda x, src, index: f(x, 0, index, src, *e), index=_INDEX),
        _ROWS, signed(2, 2),
    )  # fmt: skip
indexing.add(
    "aten.scatter.value", lambda: Function(lambda x, index: _A.scatter.value(x, 0, index, 0.5), index=_INDEX), _ROWS
)
indexing.function("F.one_hot", lambda x: F.one_hot(x, 5), integers(5, 6))

making = Calls("Making tensors")
making.function("aten.arange.start_step", lambda x: x + _A.arange.start_step(0, 12, 1), _ROWS)
making.function("aten.empty.memory_format", lambda x: _A.fill.Scalar(_A.empty.memory_format([4, 12]), 1.5) + x, _ROWS)
making.function(
    "aten.empty_strided.default", lambda x: _A.fill.Scalar(_A.empty_strided.default([4, 12], [12, 1]), 1.5) + x, _ROWS
)
making.function("aten.fill.Scalar", lambda x: _A.fill.Scalar(x, 1.5), _ROWS)
making.function("aten.full.default", lambda x: _A.full.default([4, 12], 1.5) + x, _ROWS)
making.function("aten.full_like.default", lambda x: _A.full_like.default(x, 1.5) + x, _ROWS)
making.function("aten.scalar_tensor.default", lambda x: _A.scalar_tensor.default(1.5) + x, _ROWS)
making.leave_out(
    "it draws random numbers in each call", "aten.rand.default", "aten.randn.default", "aten.randperm.default"
)
making.leave_out(
    "a number of a graph with dynamic shapes, which torch.export puts there itself",
    "aten.sym_is_contiguous.default", "aten.sym_numel.default", "aten.sym_size.int", "aten.sym_storage_offset.default",
    "aten.sym_stride.int",
)  # fmt: skip
making.leave_out("it makes a Python number of a tensor; no program has one", "aten._local_scalar_dense.default")
