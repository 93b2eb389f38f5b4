"""Exports the networks of the bench, each for each core: NAME_CORE.pte, and NAME.bin with an input.

    export.py --folder=FOLDER --cores=m55,m4,m3

Weights are random and not tuned, and nothing is predicted: what an inference costs does not depend on their values. Inputs and
outputs are float, as the yardstick's are.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from pathlib import Path

import torch
from absl import app, flags
from executorch.examples.models.mlperf_tiny.deep_autoencoder import DeepAutoEncoder
from executorch.examples.models.mlperf_tiny.ds_cnn import DSCNNKWS
from executorch.examples.models.mlperf_tiny.mobilenet_v1_025 import MobileNetV1025
from executorch.examples.models.mlperf_tiny.resnet8 import ResNet8
from executorch.exir import to_edge_transform_and_lower
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.memory.planning_pass import cortex_m_executorch_config
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.seal import seal
from cortex_m.target_config import CortexMTargetConfig
from examples.mobilenet_v2 import MobileNetV2

FLAGS = flags.FLAGS
flags.DEFINE_string("folder", None, "Where to write.", required=True)
flags.DEFINE_list("cores", None, "m55 and so on.", required=True)

NETWORKS: dict[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]] = {
    "ds_cnn": (DSCNNKWS, (1, 1, 49, 10)),
    "resnet8": (ResNet8, (1, 3, 32, 32)),
    "mobilenet_v1_025": (MobileNetV1025, (1, 3, 96, 96)),
    "deep_autoencoder": (DeepAutoEncoder, (1, 640)),
    "mobilenet_v2": (MobileNetV2, (1, 3, 224, 224)),
}


def quantize(module: torch.nn.Module, x: torch.Tensor) -> torch.export.ExportedProgram:
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(), CortexMQuantizer(tune=False))
    with torch.no_grad():
        prepared(x)
    return torch.export.export(convert_pt2e(prepared), (x,))


def lower(exported: torch.export.ExportedProgram, target: CortexMTargetConfig) -> bytes:
    edge = to_edge_transform_and_lower(
        copy.deepcopy(exported),
        compile_config=cortex_m_edge_compile_config(),
        transform_passes=CortexMPassManager(target_config=target, strict=True),
    )
    return seal(bytes(edge.to_executorch(cortex_m_executorch_config()).buffer), target)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    folder = Path(FLAGS.folder)
    for name, (network, shape) in NETWORKS.items():
        torch.manual_seed(0)
        module = network().eval()
        x = torch.rand(shape) * 2 - 1
        (folder / f"{name}.bin").write_bytes(x.numpy().tobytes())
        exported = quantize(module, x)
        for core in FLAGS.cores:
            target = CortexMTargetConfig.from_target_string(f"cortex-{core}")
            (folder / f"{name}_{core}.pte").write_bytes(lower(exported, target))


if __name__ == "__main__":
    app.run(main)
