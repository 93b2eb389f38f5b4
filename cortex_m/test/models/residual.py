"""A small network with what the other models lack: concatenation, upsampling, SiLU, a transposed convolution.

An encoder with residual blocks and a decoder that joins its features, as networks that segment images have.
"""

from __future__ import annotations

import torch
from torch import nn

from cortex_m import ModelSource


class ResidualBlock(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(x + self.second(nn.functional.silu(self.first(x))))


class ResidualNet(nn.Module):
    """[N, 3, 32, 32] float32 -> scores [N, 4, 32, 32]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.block = ResidualBlock(16)
        self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.deep = ResidualBlock(32)
        self.deeper = nn.Conv2d(32, 32, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(32, 32, 2, stride=2)
        self.middle = nn.Conv2d(64, 32, 1)
        self.join = nn.Conv2d(48, 16, 3, padding=1)
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fine = self.block(nn.functional.silu(self.stem(x)))
        coarse = self.deep(nn.functional.silu(self.down(fine)))
        coarsest = nn.functional.silu(self.deeper(coarse))
        coarse = nn.functional.silu(self.middle(torch.cat([self.up(coarsest), coarse], 1)))
        up = nn.functional.interpolate(coarse, scale_factor=2, mode="nearest")
        return self.head(nn.functional.silu(self.join(torch.cat([up, fine], 1))))


def model() -> ModelSource:
    """Random weights and inputs, with a fixed seed."""
    torch.manual_seed(0)
    network = ResidualNet()
    samples = [(torch.randn(1, 3, 32, 32),) for _ in range(9)]
    return ModelSource(network.eval(), samples[0], samples[1:], output_shapes=[[1, 4, 32, 32]])
