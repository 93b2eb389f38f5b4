"""Which of five gestures a second of acceleration shows: a small network of convolutions over time, not trained."""

import torch
from torch import nn

from cortex_m import ModelSource

AXES, SAMPLES, GESTURES = 3, 64, 5


class Gesture(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(AXES, 8, 5, stride=2, padding=2), nn.ReLU(), nn.Conv1d(8, 16, 3, stride=2, padding=1), nn.ReLU()
        )
        self.classifier = nn.Linear(16, GESTURES)

    def forward(self, acceleration: torch.Tensor) -> torch.Tensor:
        """[N, 3, 64], in units of gravity, to [N, 5]."""
        return self.classifier(self.features(acceleration).mean(2))


def swings(seed: int) -> torch.Tensor:
    """A hand that swings along each axis with some frequency and phase, and gravity along the last."""
    random = torch.Generator().manual_seed(seed)
    frequency, phase, width = torch.rand(3, AXES, 1, generator=random)
    time = torch.linspace(0, 1, SAMPLES)
    swing = 2 * width * torch.sin(2 * torch.pi * ((1 + 3 * frequency) * time + phase))
    return (swing + torch.tensor([[0.0], [0.0], [1.0]])).unsqueeze(0)


def model() -> ModelSource:
    torch.manual_seed(0)
    samples = [(swings(seed),) for seed in range(20)]
    return ModelSource(Gesture(), samples[0], calibration=samples[:16], evaluation=samples[16:])
