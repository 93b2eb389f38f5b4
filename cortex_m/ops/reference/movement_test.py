import itertools

import pytest
import torch

import cortex_m.ops.operators  # noqa: F401

ops = torch.ops.cortex_m


def image(*shape):
    return torch.randint(-128, 128, shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.int8)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_pad_is_right_aligned(rank):
    x = image(*(2, 3, 4, 5)[:rank])
    pre, post = [1, 0, 2, 1], [0, 3, 1, 2]
    pairs = [amount for dim in reversed(range(4 - rank, 4)) for amount in (pre[dim], post[dim])]
    expected = torch.nn.functional.pad(x.to(torch.int32), pairs, value=-7).to(torch.int8)
    assert torch.equal(ops.pad(x, pre, post, -7), expected)


def test_pad_of_channels_last_counts_in_memory_order():
    x = image(1, 3, 4, 5).to(memory_format=torch.channels_last)
    padded = ops.pad(x, [0, 1, 2, 0], [0, 0, 1, 3], 9)  # N, H, W, C
    expected = torch.nn.functional.pad(x.to(torch.int32), (2, 1, 1, 0, 0, 3), value=9).to(torch.int8)
    assert torch.equal(padded, expected)
    assert padded.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("perm", [perm for rank in (1, 2, 3, 4) for perm in itertools.permutations(range(rank))])
def test_transpose(perm):
    x = image(*(2, 3, 4, 5)[: len(perm)])
    result = ops.transpose(x, list(perm))
    assert result.is_contiguous()
    assert torch.equal(result, x.permute(perm))
