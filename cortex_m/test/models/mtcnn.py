"""The three networks of MTCNN (Zhang et al., 2016, arXiv:1604.02878) with published weights, on crops of a photo of a face.

P-Net slides over an image and gives, for each 12x12 window, the probability of a face and the correction of its box.
R-Net (24x24) and O-Net (48x48) look at one window each; O-Net adds five landmarks.
The names of the parameters are those of the weights that the package facenet-pytorch carries.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import PIL.Image
import skimage
import torch
from torch import nn

from cortex_m import ModelSource

# Left, top and side of the square around the face in scikit-image's astronaut.png.
_FACE = (170, 60, 110)


class PNet(nn.Module):
    """[N, 3, H, W] in [-1, 1] -> box corrections [N, 4, h, w] and probabilities (no face, face) [N, 2, h, w]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 10, 3)
        self.prelu1 = nn.PReLU(10)
        self.pool1 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(10, 16, 3)
        self.prelu2 = nn.PReLU(16)
        self.conv3 = nn.Conv2d(16, 32, 3)
        self.prelu3 = nn.PReLU(32)
        self.conv4_1 = nn.Conv2d(32, 2, 1)
        self.conv4_2 = nn.Conv2d(32, 4, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(x)))
        x = self.prelu2(self.conv2(x))
        x = self.prelu3(self.conv3(x))
        return self.conv4_2(x), self.conv4_1(x).softmax(1)


class RNet(nn.Module):
    """[N, 3, 24, 24] in [-1, 1] -> box correction [N, 4] and probabilities (no face, face) [N, 2]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 28, 3)
        self.prelu1 = nn.PReLU(28)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(28, 48, 3)
        self.prelu2 = nn.PReLU(48)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv3 = nn.Conv2d(48, 64, 2)
        self.prelu3 = nn.PReLU(64)
        self.dense4 = nn.Linear(576, 128)
        self.prelu4 = nn.PReLU(128)
        self.dense5_1 = nn.Linear(128, 2)
        self.dense5_2 = nn.Linear(128, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(x)))
        x = self.pool2(self.prelu2(self.conv2(x)))
        x = self.prelu3(self.conv3(x))
        # The weights were trained where images lie as width, height, channels.
        x = self.prelu4(self.dense4(x.permute(0, 3, 2, 1).flatten(1)))
        return self.dense5_2(x), self.dense5_1(x).softmax(1)


class ONet(nn.Module):
    """[N, 3, 48, 48] in [-1, 1] -> box correction [N, 4], landmarks [N, 10], probabilities (no face, face) [N, 2]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3)
        self.prelu1 = nn.PReLU(32)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.prelu2 = nn.PReLU(64)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv3 = nn.Conv2d(64, 64, 3)
        self.prelu3 = nn.PReLU(64)
        self.pool3 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv4 = nn.Conv2d(64, 128, 2)
        self.prelu4 = nn.PReLU(128)
        self.dense5 = nn.Linear(1152, 256)
        self.prelu5 = nn.PReLU(256)
        self.dense6_1 = nn.Linear(256, 2)
        self.dense6_2 = nn.Linear(256, 4)
        self.dense6_3 = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(x)))
        x = self.pool2(self.prelu2(self.conv2(x)))
        x = self.pool3(self.prelu3(self.conv3(x)))
        x = self.prelu4(self.conv4(x))
        x = self.prelu5(self.dense5(x.permute(0, 3, 2, 1).flatten(1)))
        return self.dense6_2(x), self.dense6_3(x), self.dense6_1(x).softmax(1)


def _pretrained(network: nn.Module, file: str) -> nn.Module:
    package = importlib.util.find_spec("facenet_pytorch")
    if package is None or package.submodule_search_locations is None:
        raise ModuleNotFoundError("MTCNN's weights are in the Python package facenet-pytorch.")
    (folder,) = package.submodule_search_locations
    network.load_state_dict(torch.load(Path(folder, "data", file), weights_only=True))
    return network.eval()


def _crop(left: float, top: float, width: float, height: float, size: tuple[int, int]) -> torch.Tensor:
    """A rectangle of the photo, resized to `size` (width, height): float32 [1, 3, height, width] in [-1, 1]."""
    with PIL.Image.open(Path(skimage.__file__).parent / "data" / "astronaut.png") as image:
        box = (left, top, left + width, top + height)
        pixels = np.asarray(image.convert("RGB").resize(size, PIL.Image.Resampling.BILINEAR, box), dtype=np.float32)
    return torch.from_numpy(((pixels - 127.5) / 128.0).transpose(2, 0, 1)[None].copy())


def _windows(side: int) -> list[torch.Tensor]:
    """The face, a little beside it and at other sizes, then squares without a face."""
    left, top, width = _FACE
    faces = [
        _crop(left + dx * width, top + dy * width, width * zoom, width * zoom, (side, side))
        for zoom in (0.9, 1.0, 1.15)
        for dx, dy in ((0.0, 0.0), (-0.1, 0.05), (0.08, -0.08))
    ]
    others = [_crop(x, y, 110, 110, (side, side)) for x, y in ((20, 20), (380, 60), (40, 300), (300, 380), (380, 250))]
    return faces + others


def pnet() -> ModelSource:
    """The photo at 1/8 of its size, where the face is about 13 pixels wide."""
    photo = _crop(0, 0, 512, 512, (64, 64))
    others = [
        _crop(x, y, size, size, (64, 64)) for x, y, size in ((0, 0, 400), (100, 0, 400), (80, 40, 300), (60, 0, 448))
    ]
    return ModelSource(_pretrained(PNet(), "pnet.pt"), (photo,), [(image,) for image in others])


def rnet() -> ModelSource:
    first, *others = _windows(24)
    return ModelSource(_pretrained(RNet(), "rnet.pt"), (first,), [(image,) for image in others])


def onet() -> ModelSource:
    first, *others = _windows(48)
    return ModelSource(_pretrained(ONet(), "onet.pt"), (first,), [(image,) for image in others])
