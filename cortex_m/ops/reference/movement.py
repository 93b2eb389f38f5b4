"""pad and transpose: bytes move, values stay."""

import torch

from cortex_m.ops.reference.registry import fake, reference


def _logical_order(input: torch.Tensor, amounts: list[int]) -> list[int]:
    """The last `rank` of four amounts, brought from memory order to the tensor's own order of dimensions."""
    amounts = list(amounts)[4 - input.dim() :]
    ordered = list(amounts)
    for position, dim in enumerate(input.dim_order()):
        ordered[dim] = amounts[position]
    return ordered


def _padded_empty(input: torch.Tensor, pre: list[int], post: list[int]) -> torch.Tensor:
    shape = [size + before + after for size, before, after in zip(input.shape, pre, post)]
    order = input.dim_order()
    empty = input.new_empty([shape[dim] for dim in order])
    return empty.permute([order.index(dim) for dim in range(input.dim())])


@reference("pad")
def pad(input, pre_pad, post_pad, pad_value):
    """Rank 1 to 4; pre_pad and post_pad hold four counts in memory order, right-aligned for lower ranks."""
    pre, post = _logical_order(input, pre_pad), _logical_order(input, post_pad)
    out = _padded_empty(input, pre, post).fill_(pad_value)
    out[tuple(slice(before, before + size) for before, size in zip(pre, input.shape))] = input
    return out


@fake("pad")
def pad_fake(input, pre_pad, post_pad, pad_value):
    return _padded_empty(input, _logical_order(input, pre_pad), _logical_order(input, post_pad))


@reference("transpose")
def transpose(input, perm):
    """out[i, j, ...] is input at the indices permuted by perm, as torch.permute; contiguous."""
    return input.permute(perm).contiguous()


@fake("transpose")
def transpose_fake(input, perm):
    return input.new_empty([input.shape[dim] for dim in perm])
