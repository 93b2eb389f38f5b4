"""Which kernel a core takes for a layer: the kernel library's own predicate, asked on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cortex_m.host import library
from cortex_m.host.library import KernelSet
from cortex_m.target_config import Backend, core_table

if TYPE_CHECKING:
    from cortex_m.analysis.layers import Layer

# What runs where a program brings less scratch than the kernel of its sizes takes (arm_convolve_s8.c, arm_depthwise_conv_s8.c).
_WITHOUT_SCRATCH = {"columns": "direct", "patches": "lanes"}


def kernel_of(layer: Layer, numbers: dict[str, Any], kernels: KernelSet) -> str:
    """Name of the variant, "patches"; "" for an operator without a choice, or where the library does not say.

    numbers: the layer's arguments that are no tensors, by name.
    """
    name = layer.op.removeprefix("cortex_m::").removesuffix("_nhwc")
    if name in ("packed_conv2d", "packed_depthwise_conv2d"):
        return "packed" if kernels == KernelSet.MVE else ""
    if name == "packed_linear":
        return "packed" if kernels == KernelSet.DSP else ""
    if name not in ("quantized_conv2d", "quantized_depthwise_conv2d") or not layer.inputs or not layer.outputs:
        return ""
    weight = next((tensor for tensor in layer.constants if tensor.role == "weight"), None)
    if weight is None:
        return ""
    images = [layer.inputs[0].shape, layer.outputs[0].shape]
    if not layer.op.endswith("_nhwc"):
        images = [tuple(shape[dim] for dim in (0, 2, 3, 1)) for shape in images]
    sizes = [images[0], weight.shape, images[1], *(numbers[key] for key in ("stride", "padding", "dilation"))]
    isa = Backend.SCALAR if kernels == KernelSet.THUMB2 else Backend[kernels.name]
    try:
        if name == "quantized_conv2d":
            kernel, needed = library.convolve_kernel(kernels, *sizes), library.convolve_scratch_size(isa, *sizes)
        else:
            sizes.append(numbers["depth_multiplier"])
            kernel, needed = (
                library.depthwise_conv_kernel(kernels, *sizes),
                library.depthwise_conv_scratch_size(isa, *sizes),
            )
    except ValueError:  # no kernel takes it: the device will refuse the call
        return ""
    return _WITHOUT_SCRATCH.get(kernel, kernel) if layer.scratch_bytes < needed else kernel


def kernel_set(core: str) -> KernelSet:
    """What the kernels of a platform, "cortex_m55", are written in."""
    entry = core_table()[core]
    if entry["enum"] == "M3":  # the one Armv7-M core without the DSP extension
        return KernelSet.THUMB2
    return KernelSet[entry["isa"]]
