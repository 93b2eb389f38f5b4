"""A small U-Net: what its layers move (reflections at the borders, upsampling, concatenation) is int8 without a transpose."""

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m import ModelSource


class UNet(nn.Module):
    """One level down and up again; [1, 3, 16, 16] to [1, 2, 16, 16]."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.last = nn.Conv2d(24, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = F.relu(self.first(F.pad(x, (1, 1, 1, 1), mode="reflect")))
        deep = F.interpolate(F.relu(self.down(kept)), scale_factor=2)
        return self.last(torch.cat([kept, deep], 1))


def model() -> ModelSource:
    """The entry of the model; seeded weights and inputs."""
    torch.manual_seed(0)
    module = UNet().eval()
    samples = [(torch.randn(1, 3, 16, 16),) for _ in range(5)]
    return ModelSource(module, samples[0], samples[1:])
