"""A module of one's own: what export does to it, and what its `forward` does to itself, the user's module never sees."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def own_copy(module: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """A copy of `module` in eval mode.

    Where Python cannot copy it (it holds a lock, a file, a generator), the module itself, whose mode, parameters and
    buffers are put back at the end.
    """
    try:
        made = copy.deepcopy(module, _computed(module))
    except Exception:  # noqa: BLE001  whatever the user's objects raise
        made = None
    if made is not None:
        yield made.eval()
        return
    modes = {part: part.training for part in module.modules()}
    values = {tensor: tensor.detach().clone() for tensor in (*module.parameters(), *module.buffers())}
    buffers = {part: dict(part._buffers) for part in module.modules()}
    try:
        yield module.eval()
    finally:
        for part, mode in modes.items():
            part.training = mode
            part._buffers.update(buffers[part])
        with torch.no_grad():
            for tensor, value in values.items():
                tensor.copy_(value)


def _computed(module: torch.nn.Module) -> dict[int, torch.Tensor]:
    """Copies of what deepcopy refuses: tensors that hooks (weight_norm, spectral_norm) have computed from parameters."""
    held = [value for part in module.modules() for value in vars(part).values() if isinstance(value, torch.Tensor)]
    return {id(value): value.detach().clone() for value in held if value.grad_fn is not None}
