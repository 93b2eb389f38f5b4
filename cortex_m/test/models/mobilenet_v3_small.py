"""MobileNetV3-Small (Howard et al., 2019, arXiv:1905.02244): squeeze-and-excitation, hard sigmoid, hard swish.

The weights are random, with a fixed seed. Batch norms get the statistics of photos, as training would give them, so
that every layer carries a signal.
"""

from __future__ import annotations

import torch
from torch import nn

from cortex_m import ModelSource
from examples import photos

PREDICTED = "chelsea.png"

# Table 2 of the paper: kernel, expanded channels, output channels, squeeze-and-excitation, hard swish, stride.
_BLOCKS = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
    (5, 576, 96, True, True, 1),
)


def _conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs, eps=0.001)]


def _multiple_of_8(channels: float) -> int:
    return max(8, int(channels + 4) // 8 * 8)


class SqueezeExcitation(nn.Module):
    """Each channel times a factor in [0, 1] that two 1x1 convolutions make of the channels' means."""

    def __init__(self, channels: int):
        super().__init__()
        squeezed = _multiple_of_8(channels / 4)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.expand = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        factors = nn.functional.relu(self.reduce(nn.functional.adaptive_avg_pool2d(x, 1)))
        return x * nn.functional.hardsigmoid(self.expand(factors))


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, kernel: int, hidden: int, outputs: int, squeeze: bool, swish: bool, stride: int):
        super().__init__()
        activation = nn.Hardswish if swish else nn.ReLU
        layers = [] if hidden == inputs else [*_conv_bn(inputs, hidden, 1), activation()]
        layers += [*_conv_bn(hidden, hidden, kernel, stride, groups=hidden), activation()]
        layers += [SqueezeExcitation(hidden)] if squeeze else []
        self.layers = nn.Sequential(*layers, *_conv_bn(hidden, outputs, 1))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV3Small(nn.Module):
    """[N, 3, 224, 224] float32, normalised with ImageNet's mean and deviation -> [N, 1000] logits."""

    def __init__(self) -> None:
        super().__init__()
        layers = [*_conv_bn(3, 16, 3, 2), nn.Hardswish()]
        channels = 16
        for kernel, hidden, outputs, squeeze, swish, stride in _BLOCKS:
            layers.append(Bottleneck(channels, kernel, hidden, outputs, squeeze, swish, stride))
            channels = outputs
        self.features = nn.Sequential(*layers, *_conv_bn(96, 576, 1), nn.Hardswish())
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(1024, 1000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(nn.functional.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def model() -> ModelSource:
    """Calibrated on eleven photos, predicted on the twelfth."""
    torch.manual_seed(0)
    network = MobileNetV3Small()
    images = {name: photos.load(photos.sample_path(name)) for name in photos.SAMPLES}
    calibration = [image for name, image in images.items() if name != PREDICTED]
    for norm in network.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.momentum = 1.0  # the statistics of this one batch
    with torch.no_grad():
        network.train()(torch.cat(calibration))
    return ModelSource(
        network.eval(), (images[PREDICTED],), [(image,) for image in calibration], output_shapes=[[1, 1000]]
    )
