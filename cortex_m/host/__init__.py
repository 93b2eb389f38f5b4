"""What runs on the host: a .pte with the device's runtime and kernels, or with the reference operators.

from cortex_m.host import Program
logits, = Program("model.pte").run((image,))
"""

import importlib

_PUBLIC = {
    "Program": "cortex_m.host.program",
    "ProgramError": "cortex_m.host.errors",
    "ReferenceProgram": "cortex_m.host.interpreter",
    "SignatureError": "cortex_m.host.specs",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'cortex_m.host' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
