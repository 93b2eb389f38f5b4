"""PyTorch to Arm Cortex-M: the public Python names.

They load on first use, because torch takes seconds to import and much of this package (simulator, build tools) does
not need it.
"""

import importlib

_PUBLIC = {
    "CortexM": "cortex_m.target_config",
    "CortexMTargetConfig": "cortex_m.target_config",
    "CortexMQuantizer": "cortex_m.quantizer.quantizer",
    "CortexMPassManager": "cortex_m.passes.cortex_m_pass_manager",
    "cortex_m_edge_compile_config": "cortex_m.edge_compile_config",
    "ModelSource": "cortex_m.export",
    "export_model": "cortex_m.export",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'cortex_m' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
