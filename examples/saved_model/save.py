"""Stands for a training job elsewhere: writes a network as a .pt2 and samples as a .npy, all that an export needs.

save.py net.pt2 samples.npy
"""

import sys

import numpy as np
import torch


class Net(torch.nn.Module):
    """[1, 1, 16, 32], a spectrogram, to the share of its energy up to each of 16 times: a sum that stays in float."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(1, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 4, (1, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.second(torch.relu(self.first(x)))
        return torch.cumsum(torch.softmax(x.mean(1).flatten(1), 1), 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    samples = torch.randn(16, 1, 16, 32)
    torch.export.save(torch.export.export(Net().eval(), (samples[:1],)), sys.argv[1])
    np.save(sys.argv[2], samples.numpy())
