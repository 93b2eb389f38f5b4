"""CortexMQuantizer: decides where a model becomes int8.

    quantizer = CortexMQuantizer()
    captured = torch.export.export(model, example_inputs).module()
    prepared = prepare_pt2e(captured, quantizer)
    for sample in calibration_samples:
        prepared(*sample)
    converted = convert_pt2e(prepared)
    print(quantizer.report)

The model is in evaluation mode and float32, with static shapes. What is quantized, and why something is not, stands
in `cortex_m.quantizer.patterns`; this module only connects that table to PT2E.
"""

from __future__ import annotations

import logging

from torch.fx import GraphModule
from torchao.quantization.pt2e.quantizer import Quantizer

from cortex_m.quantizer.annotate import annotate, record_inputs
from cortex_m.quantizer.match import Match
from cortex_m.quantizer.matcher import Refusal, find_matches
from cortex_m.quantizer.observers import InputRecorder
from cortex_m.quantizer.patterns import Pattern
from cortex_m.quantizer.prepare import prepare_graph
from cortex_m.quantizer.quantization_configs import (
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
    CortexMQuantizationConfig,
)
from cortex_m.quantizer.report import FloatNode, QuantizedLayer, QuantizerReport, source_location
from cortex_m.quantizer.tuning.tuner import Tuner

logger = logging.getLogger(__name__)


class CortexMQuantizer(Quantizer):
    """PT2E quantizer for the int8 operators of this backend.

    Args:
        per_tensor_config: how layers other than conv2d are quantized. None means int8 with one weight scale an
            output channel for linear too; INT8_PER_TENSOR_CONFIG gives linear layers one scale a tensor.
        tune: whether convert_pt2e uses the calibration samples to improve accuracy (`cortex_m.quantizer.tuning`);
            without it every range is that of the smallest and largest value seen.

    Attributes:
        report: what the last `annotate` decided; `str(report)` is the text for people.
    """

    def __init__(self, per_tensor_config: CortexMQuantizationConfig | None = None, tune: bool = True):
        super().__init__()
        self._per_tensor_config = per_tensor_config
        self._tune = tune
        self.report = QuantizerReport()

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        self.report = QuantizerReport()
        model, self.report.removed = prepare_graph(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        matches, refusals = find_matches(model.graph, self._config_of)
        quantized, unneeded = annotate(matches)
        self._fill_report(quantized, [*refusals, *unneeded])
        if self._tune:
            self.report.tuner = Tuner()
            record_inputs(model.graph)
        logger.info("%s", self.report)
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing to do: annotation writes only what the pattern table allows."""

    def prepare_obs_or_fq_callback(self, model, edge_or_node_to_obs_or_fq) -> None:
        for observer in edge_or_node_to_obs_or_fq.values():
            if isinstance(observer, InputRecorder):
                observer.tuner = self.report.tuner

    def _config_of(self, pattern: Pattern) -> CortexMQuantizationConfig:
        if pattern.name == "conv2d":
            return INT8_PER_CHANNEL_CONFIG
        if pattern.weighted:
            return self._per_tensor_config or INT8_PER_CHANNEL_CONFIG
        return self._per_tensor_config or INT8_PER_TENSOR_CONFIG

    def _fill_report(self, matches: list[Match], refusals: list[Refusal]) -> None:
        self.report.quantized = [
            QuantizedLayer(match.pattern.name, tuple(node.name for node in match.nodes), source_location(match.head))
            for match in matches
        ]
        self.report.float_nodes = [
            FloatNode(refusal.node.name, str(refusal.node.target), refusal.reason, source_location(refusal.node))
            for refusal in refusals
        ]
