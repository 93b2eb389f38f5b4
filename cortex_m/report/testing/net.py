"""A small network with one operator that stays float: what its report must say is known."""

import torch

from cortex_m import ModelSource


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.depthwise = torch.nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.linear = torch.nn.Linear(8 * 6 * 6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.depthwise(torch.relu(self.conv(x))))
        return torch.cumsum(self.linear(x.flatten(1)), 1)


def model() -> ModelSource:
    torch.manual_seed(0)
    samples = [(torch.randn(1, 3, 6, 6),) for _ in range(3)]
    return ModelSource(Net().eval(), samples[0], samples[1:])
