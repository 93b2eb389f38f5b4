"""A network with state of all kinds: a stream's last columns for an int8 convolution, a sum in float, a counter, and a flag."""

import torch
from torch import nn

from cortex_m import ModelSource


class Net(nn.Module):
    """x [1, 4, 1] -> the convolution's output [1, 8, 1], the sum [1, 8], the number of calls int32 [1]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3)
        self.register_buffer("columns", torch.randn(1, 4, 2))
        self.register_buffer("total", torch.full((1, 8), 3.0))
        self.register_buffer("calls", torch.tensor([40], dtype=torch.int32))
        self.register_buffer("is_first", torch.tensor([True]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        window = torch.cat([self.columns, x], 2)
        self.columns.copy_(window[:, :, 1:])
        y = self.conv(window).relu()
        self.total.add_(torch.where(self.is_first, 0.5, y.flatten(1)))
        self.is_first.fill_(False)
        self.calls.add_(1)
        return y, self.total.clone(), self.calls.clone()


def model() -> ModelSource:
    torch.manual_seed(0)
    samples = [(torch.randn(1, 4, 1),) for _ in range(12)]
    return ModelSource(Net(), samples[0], calibration=samples, evaluation=samples[1:3])
