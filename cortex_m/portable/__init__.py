"""Fallback kernels for core ATen operators: see docs/portable_ops.md."""
