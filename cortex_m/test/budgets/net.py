"""A small image classifier with calls to judge it by, for the tests of budgets."""

import torch
from torch import nn

from cortex_m import ModelSource


def model() -> ModelSource:
    torch.manual_seed(5)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 12, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(300, 6),
    )
    samples = [(torch.randn(1, 1, 14, 14),) for _ in range(12)]
    return ModelSource(net, samples[0], calibration=samples[:8], evaluation=samples[8:])
