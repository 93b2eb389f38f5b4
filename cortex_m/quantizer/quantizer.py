"""CortexMQuantizer: decides where a model becomes int8.

    quantizer = CortexMQuantizer()
    captured = torch.export.export(model, example_inputs).module()
    prepared = prepare_pt2e(captured, quantizer)
    for sample in calibration_samples:
        prepared(*sample)
    converted = convert_pt2e(prepared)
    print(quantizer.report)

The model is in evaluation mode and float32, with static shapes. What is quantized, and why something is not, stands
in `cortex_m.quantizer.patterns`; this module only connects that table to PT2E. docs/quantizer.md describes the options.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, QuantizationSpecBase, Quantizer
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cortex_m.quantizer.annotate import annotate, record_inputs
from cortex_m.quantizer.batch_norms import use_sound_folding
from cortex_m.quantizer.match import Match
from cortex_m.quantizer.node_finders import GlobalNodeFinder, NodeFinder
from cortex_m.quantizer.pattern_matcher import PatternMatcher, Refusal, chains_of_table, find_matches
from cortex_m.quantizer.patterns import Output, Pattern
from cortex_m.quantizer.prepare import prepare_graph
from cortex_m.quantizer.quantization_configs import (
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
    CortexMQuantizationConfig,
)
from cortex_m.quantizer.report import FloatNode, QuantizedLayer, QuantizerReport, source_location
from cortex_m.quantizer.state import find_feedback, initial_state
from cortex_m.quantizer.training_norms import mark_norms, use_own_norms
from cortex_m.quantizer.tuning.tuner import Tuner
from cortex_m.quantizer_reporter import QuantizerInfo, QuantizerReporter, QuantizerReporterUser

use_sound_folding()
use_own_norms()

_FEEDBACK = "it makes a buffer of what the buffer was, where int8 roundings would add up from run to run"


class QuantizationError(ValueError):
    """Raised with strict=True where an operator would stay in float."""


class CortexMQuantizer(Quantizer, QuantizerReporterUser):
    """PT2E quantizer for the int8 operators of this backend.

    Args:
        per_tensor_config: how layers other than convolutions are quantized. None means int8 with one weight scale an
            output channel for linear too; INT8_PER_TENSOR_CONFIG gives linear layers one scale a tensor.
        use_explicit_layout: accepted for scripts that pass it, and without effect: a model keeps its contiguous or
            channels_last tensors, and memory layout is decided when it is lowered.
        node_finder: only what it finds is quantized; all nodes if None. To quantize parts with different configs, put
            several quantizers into torchao's ComposableQuantizer: the first that takes a node keeps it.
        strict: raise QuantizationError if an operator on float data stays float that `node_finder` has found.
        tune: whether convert_pt2e uses the calibration samples to improve accuracy (`cortex_m.quantizer.tuning`);
            without it every range is that of the smallest and largest value seen.
        is_qat: for prepare_qat_pt2e, with a model captured in training mode: values are rounded while it trains, and
            nothing is tuned afterwards.

    Attributes:
        report: what the last `annotate` decided; `str(report)` is the text for people.
    """

    def __init__(
        self,
        per_tensor_config: CortexMQuantizationConfig | None = None,
        use_explicit_layout: bool = False,
        *,
        node_finder: NodeFinder | None = None,
        strict: bool = False,
        tune: bool = True,
        is_qat: bool = False,
    ):
        Quantizer.__init__(self)
        QuantizerReporterUser.__init__(self)
        self._per_tensor_config = per_tensor_config
        self._finder = node_finder or GlobalNodeFinder()
        self._strict = strict
        self._tune = tune
        self._is_qat = is_qat
        self._matcher = PatternMatcher(chains_of_table(qat=is_qat))
        self.report = QuantizerReport()

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        self.report = QuantizerReport()
        model, self.report.removed = prepare_graph(model, training=self._is_qat)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        """Annotates what can be quantized. QuantizationError with strict=True if something cannot."""
        reporter = QuantizerReporter([self])
        matches, refusals = find_matches(model.graph, self._matcher, self._config_of, self._finder)
        feedback = find_feedback(model.graph)
        refusals += [Refusal(match.head, _FEEDBACK) for match in matches if _rounds_feedback(match, feedback)]
        matches = [match for match in matches if not _rounds_feedback(match, feedback)]
        quantized, unneeded = annotate(matches, training=self._is_qat)
        refusals += unneeded
        mark_norms(quantized)
        self._fill_report(quantized, refusals)
        reporter.log_quantizer_report(model)
        if self._strict:
            _require_no_float(refusals)
        if not self._is_qat:
            self.report.tuner = Tuner(enabled=self._tune, state=initial_state(model))
            record_inputs(model.graph, self.report.tuner)
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing to do: annotation writes only what the pattern table allows."""

    def get_quantizer_info(self) -> QuantizerInfo:
        labels = dict.fromkeys(self._config_of(pattern).label for pattern in self._matcher.support_dict.values())
        return QuantizerInfo(type(self).__name__, str(self._finder), "; ".join(labels), self._matcher.support_dict_name)

    def _config_of(self, pattern: Pattern) -> CortexMQuantizationConfig:
        if pattern.name.startswith("conv"):
            config = INT8_PER_CHANNEL_CONFIG
        elif pattern.weighted:
            config = self._per_tensor_config or INT8_PER_CHANNEL_CONFIG
        else:
            config = self._per_tensor_config or INT8_PER_TENSOR_CONFIG
        return config.for_training() if self._is_qat else config

    def _fill_report(self, matches: list[Match], refusals: list[Refusal]) -> None:
        self.report.quantized = [
            QuantizedLayer(match.pattern.name, tuple(node.name for node in match.nodes), source_location(match.head))
            for match in matches
        ]
        self.report.float_nodes = [
            FloatNode(refusal.node.name, str(refusal.node.target), refusal.reason, source_location(refusal.node))
            for refusal in refusals
        ]
        for match in matches:
            self.report_accept(match.nodes)
        for refusal in refusals:
            self.report_reject([refusal.node], refusal.reason)


def _rounds_feedback(match: Match, feedback: set[Node]) -> bool:
    """Whether a match computes what a buffer becomes from what it was; what only moves elements rounds nothing twice."""
    return match.pattern.output is not Output.SHARED and match.last in feedback


def _require_no_float(refusals: list[Refusal]) -> None:
    lines = [
        f"  {source_location(refusal.node)}: {refusal.node.name} ({refusal.node.target}): {refusal.reason}"
        for refusal in refusals
        if not refusal.chosen
    ]
    if lines:
        raise QuantizationError("\n".join([f"strict quantization: {len(lines)} operators would stay float", *lines]))


def mark_node_as_annotated(
    node: Node,
    input_qspec_map: Mapping[Node, QuantizationSpecBase | None],
    output_qspec: QuantizationSpecBase | None,
    is_quantized: bool,
) -> None:
    """Writes the annotation of `node`, so that no quantizer after this call decides about it.

    Args:
        input_qspec_map: specification of each input; None or absent: float.
        output_qspec: that of the value; None: float.
        is_quantized: False keeps the node in float; then there are no specifications.

    Raises ValueError for specifications of a node that is not to be quantized.
    """
    specifications = [qspec for qspec in (*input_qspec_map.values(), output_qspec) if qspec is not None]
    if specifications and not is_quantized:
        raise ValueError(f"'{node.name}' is to stay float, but has {len(specifications)} quantization specifications")
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=dict(input_qspec_map), output_qspec=output_qspec, _annotated=True
    )
