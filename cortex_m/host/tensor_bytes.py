"""Tensors as the device reads and writes them: raw bytes in memory order."""

import torch


def tensor_to_bytes(tensor: torch.Tensor) -> bytes:
    """The elements in the order they lie in memory (a channels_last image as N, H, W, C), little-endian.

    Raises ValueError for a tensor whose elements do not fill their stretch of memory exactly once (an expanded or sliced
    one): no dim order describes it.
    """
    strides = sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)
    expected = 1
    for stride, size in strides:
        if stride != expected and tensor.numel() > 0:
            raise ValueError(
                f"a tensor of shape {tuple(tensor.shape)} and strides {tensor.stride()} is not dense in memory"
            )
        expected *= size
    flat = tensor.detach().as_strided((tensor.numel(),), (1,), tensor.storage_offset())
    return flat.numpy().tobytes()
