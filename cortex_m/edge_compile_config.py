"""The edge compile configuration that the passes expect."""

import torch
from executorch.exir import EdgeCompileConfig


def cortex_m_edge_compile_config() -> EdgeCompileConfig:
    """Keeps whole the ops that the passes lower whole, and switches off the check that forbids ops outside core ATen.

    Pass it to `to_edge` or `to_edge_transform_and_lower`.
    """
    aten = torch.ops.aten
    return EdgeCompileConfig(
        preserve_ops=[
            aten.linear.default,
            aten.matmul.default,
            aten.prelu.default,
            aten.hardsigmoid.default,
            aten.hardsigmoid_.default,
            aten.hardswish.default,
            aten.hardswish_.default,
            aten.silu.default,
            aten.silu_.default,
            aten.pixel_shuffle.default,
            aten.pixel_unshuffle.default,
            aten.channel_shuffle.default,
            aten.roll.default,
            aten.reflection_pad1d.default,
            aten.reflection_pad2d.default,
            aten.reflection_pad3d.default,
            aten.replication_pad1d.default,
            aten.replication_pad2d.default,
            aten.replication_pad3d.default,
            # A function of one tensor may come in pieces too; these have portable kernels where they stay float.
            aten.elu.default,
            aten.gelu.default,
            aten.leaky_relu.default,
            aten.mish.default,
            aten.softplus.default,
        ],
        _check_ir_validity=False,
    )
