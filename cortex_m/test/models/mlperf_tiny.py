"""The four networks of MLPerf Tiny (Banbury et al., 2021, arXiv:2106.07597), as executorch's examples define them.

Weights and inputs are random, with a fixed seed; inputs are uniform in [-1, 1).
"""

import torch
from executorch.examples.models.mlperf_tiny.deep_autoencoder import DeepAutoEncoder
from executorch.examples.models.mlperf_tiny.ds_cnn import DSCNNKWS
from executorch.examples.models.mlperf_tiny.mobilenet_v1_025 import MobileNetV1025
from executorch.examples.models.mlperf_tiny.resnet8 import ResNet8

from cortex_m import ModelSource


def _source(network: type[torch.nn.Module], *shape: int) -> ModelSource:
    torch.manual_seed(0)
    module = network().eval()
    samples = [(torch.rand(shape) * 2 - 1,) for _ in range(9)]
    return ModelSource(module, samples[0], samples[1:])


def ds_cnn() -> ModelSource:
    """Keyword spotting: 49 frames of 10 MFCC features, 12 words."""
    return _source(DSCNNKWS, 1, 1, 49, 10)


def resnet8() -> ModelSource:
    """Image classification: CIFAR-10's images and classes."""
    return _source(ResNet8, 1, 3, 32, 32)


def mobilenet_v1_025() -> ModelSource:
    """Visual wake words: 96x96 images, person or none."""
    return _source(MobileNetV1025, 1, 3, 96, 96)


def deep_autoencoder() -> ModelSource:
    """Anomaly detection: 5 frames of 128 mel bands, reconstructed."""
    return _source(DeepAutoEncoder, 1, 640)
