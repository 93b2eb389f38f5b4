"""The names that the catalogue must have, as the installed torch lists them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


def modules() -> list[str]:
    """ "nn.ReLU": each class of torch.nn that is a module."""
    found = ((name, getattr(nn, name)) for name in dir(nn))
    return [f"nn.{name}" for name, value in found if isinstance(value, type) and issubclass(value, nn.Module)]


def functions() -> list[str]:
    """ "F.relu": each public callable of torch.nn.functional that is no class."""
    found = ((name, getattr(F, name)) for name in dir(F) if not name.startswith("_"))
    return [
        f"F.{name}"
        for name, value in found
        if callable(value) and not isinstance(value, type) and getattr(value, "__module__", "") != "typing"
    ]


def core_operators() -> list[str]:
    """ "aten.relu.default": each operator that torch tags as core."""
    found = []
    for qualified in torch._C._dispatch_get_all_op_names():
        namespace, _, name = qualified.partition("::")
        packet, _, overload = name.partition(".")
        if namespace != "aten":
            continue
        operator = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if operator is not None and torch.Tag.core in operator.tags:
            found.append(str(operator))
    return sorted(found, key=lambda name: name.replace("aten._", "aten."))


def all_names() -> list[str]:
    return modules() + functions() + core_operators()
