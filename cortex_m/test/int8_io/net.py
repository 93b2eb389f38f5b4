"""A small image classifier with real convolutions, for the test of int8 inputs and outputs."""

import torch
from torch import nn

from cortex_m import ModelSource


def model() -> ModelSource:
    torch.manual_seed(11)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.Flatten(),
        nn.Linear(128, 5),
    )
    samples = [(torch.randn(1, 3, 12, 12),) for _ in range(6)]
    return ModelSource(net, samples[0], samples)
