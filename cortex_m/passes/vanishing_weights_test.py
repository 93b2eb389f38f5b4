"""Channels of vanishing weights stay int8, with their biases, tuned or not."""

import pytest
import torch
from torch import nn

from cortex_m.passes.recipe import quantize_and_lower


class Dead(nn.Module):
    """A layer with one channel of vanishing weights: what the channel gives is its bias."""

    def __init__(self, layer, size, channel_dim=0):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.size = layer, size
        with torch.no_grad():
            layer.weight.select(channel_dim, 1).mul_(1e-12)
            layer.bias[1::2] = 3.0

    def forward(self, x):
        return self.layer(x)


DEAD = {
    "conv": lambda: Dead(nn.Conv2d(4, 6, 3), (1, 4, 6, 6)),
    "conv1d": lambda: Dead(nn.Conv1d(4, 6, 3), (1, 4, 6)),
    "pointwise": lambda: Dead(nn.Conv2d(4, 6, 1), (1, 4, 6, 6)),
    "depthwise": lambda: Dead(nn.Conv2d(4, 4, 3, groups=4), (1, 4, 6, 6)),
    "grouped": lambda: Dead(nn.Conv2d(4, 6, 3, groups=2), (1, 4, 6, 6)),
    "transposed": lambda: Dead(nn.ConvTranspose2d(4, 6, 3), (1, 4, 6, 6), 1),
    "transposed, grouped": lambda: Dead(nn.ConvTranspose2d(4, 4, 3, groups=2), (1, 4, 6, 6), 1),
    "linear": lambda: Dead(nn.Linear(4, 6), (1, 4)),
}


@pytest.mark.parametrize("tune", [True, False])
@pytest.mark.parametrize("kind", DEAD)
def test_a_channel_without_weights_keeps_its_bias(kind, tune):
    """Its bias would leave int32 in units of its weights' scale, and the layer would stay in float."""
    model = DEAD[kind]().eval()
    x = torch.randn(model.size, generator=torch.Generator().manual_seed(1))
    lowered = quantize_and_lower(model, x, tune=tune, strict=True)
    with torch.no_grad():
        want = model(x)
    (got,) = lowered.run(x)
    step = float(want.amax() - want.amin()) / 255
    channels = [1] if kind != "transposed, grouped" else [1, 3]
    assert float((got - want)[:, channels].abs().max()) <= step
    noise = (got - want).square().mean()
    assert 10 * torch.log10(want.square().mean() / noise) > 25
