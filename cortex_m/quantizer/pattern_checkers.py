"""`PatternCheck`, the base of what decides for a PatternMatcher whether a chain of a support table is quantized.

class ConstantShape(PatternCheck):
    @classmethod
    def check_pattern(cls, pattern):
        return pattern[0].meta["val"].shape == pattern[-1].meta["val"].shape

matcher = PatternMatcher({(torch.ops.aten.add.Tensor, torch.ops.aten.relu.default): ConstantShape})
"""

from __future__ import annotations

from torch.fx import Node

from cortex_m.quantizer.quantization_configs import CortexMQuantizationConfig


class PatternCheck:
    """Accepts everything; a class of one's own restricts it. The classes themselves stand in the table, and instances can."""

    @classmethod
    def check_pattern(cls, pattern: list[Node]) -> bool:
        """Whether these nodes, in graph order, can be quantized."""
        return True

    @classmethod
    def check_quantization_config(cls, pattern: list[Node], quantization_config: CortexMQuantizationConfig) -> bool:
        """Whether they can be quantized with this configuration."""
        return True
