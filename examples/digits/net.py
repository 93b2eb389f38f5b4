"""A small convolutional network for scikit-learn's handwritten digits, and how its samples are divided.

The data set is that of the UCI repository ("Optical Recognition of Handwritten Digits", its test part): 1,797 pictures of
8x8 pixels with 17 grey levels, which scikit-learn carries.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HELD_OUT = 360


@dataclass(frozen=True)
class Samples:
    """images: float32 [N, 1, 8, 8] from 0 to 1. labels: int64 [N]."""

    images: torch.Tensor
    labels: torch.Tensor


def samples() -> tuple[Samples, Samples]:
    """1,437 pictures to train with and 360 that are held out, with the same share of each digit; always the same ones."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target)
    train, test = train_test_split(range(len(labels)), test_size=HELD_OUT, random_state=0, stratify=digits.target)
    return Samples(images[train], labels[train]), Samples(images[test], labels[test])


def network() -> torch.nn.Module:
    """[N, 1, 8, 8] to ten scores."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 4 * 4, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 10),
    )


def trained(weights: Path) -> torch.nn.Module:
    """The network with the weights of a file that train.py wrote."""
    net = network()
    net.load_state_dict(torch.load(weights, weights_only=True))
    return net.eval()
