"""What quantizers did to a model, as text: counts, and on request one row a node with its specifications.

    reporter = QuantizerReporter([CortexMQuantizer(), ...])
    ... annotate ...
    print(reporter.get_quantization_report(model, extended=True))

`CortexMQuantizer.annotate` logs such a report by itself: the counts at level INFO, the table at DEBUG. Any quantizer
can take part that derives from `QuantizerReporterUser` and calls `report_accept` and `report_reject` as it decides.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from tabulate import tabulate
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

logger = logging.getLogger(__name__)

WIDTH = 100
# The message of a rejection that is nobody's fault: the node had its annotation before.
PREVIOUS_ANNOTATION = "Tried annotating already quantized node."


def qspec_repr(qspec: QuantizationSpecBase | None) -> str:
    """A specification in one short line: kind, dtype, range; for a shared one, whose it is."""
    if qspec is None:
        return "float"
    kind = type(qspec).__name__
    if isinstance(qspec, SharedQuantizationSpec):
        source = qspec.edge_or_node
        edge = source.name if isinstance(source, Node) else " -> ".join(node.name for node in source)
        return f"{kind}({edge})"
    if isinstance(qspec, (QuantizationSpec, DerivedQuantizationSpec, FixedQParamsQuantizationSpec)):
        dtype = str(qspec.dtype).removeprefix("torch.").upper()
        fixed = f", scale={qspec.scale:g}, zero_point={qspec.zero_point}" if hasattr(qspec, "scale") else ""
        return f"{kind}(dtype={dtype}, range=({qspec.quant_min},{qspec.quant_max}){fixed})"
    return kind


class QuantizerInfo(NamedTuple):
    """How a report introduces a quantizer."""

    name: str
    targeted_nodes_description: str
    qconfig_label: str
    support_config_path: str


class NodeQSpecReport(NamedTuple):
    """A node and its specifications, as text; one line an input."""

    name: str
    input_qspec_map: list[str]
    output_qspec: str


class AnnotatedPatternReport(NamedTuple):
    """The nodes of a pattern that was quantized."""

    nodes: list[NodeQSpecReport]


class RejectedPatternReport(NamedTuple):
    """The names of the nodes that were not quantized, and why."""

    nodes: list[str]
    message: str


def node_report(node: Node) -> NodeQSpecReport:
    """Reads the annotation of `node`."""
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    if annotation is None:
        return NodeQSpecReport(node.name, [], qspec_repr(None))
    inputs = [f"{source.name}: {qspec_repr(qspec)}" for source, qspec in annotation.input_qspec_map.items()]
    return NodeQSpecReport(node.name, inputs, qspec_repr(annotation.output_qspec))


class QuantizerReport:
    """What one quantizer accepted and rejected."""

    def __init__(self, quantizer_info: QuantizerInfo):
        self.quantizer_info = quantizer_info
        self.accepted: list[AnnotatedPatternReport] = []
        self.rejected: list[RejectedPatternReport] = []

    def report_accept(self, pattern: Sequence[Node]) -> None:
        """Notes a pattern; its nodes carry their annotations by now."""
        self.accepted.append(AnnotatedPatternReport([node_report(node) for node in pattern]))

    def report_reject(self, pattern: Sequence[Node], message: str) -> None:
        self.rejected.append(RejectedPatternReport([node.name for node in pattern], message))

    @property
    def accepted_node_count(self) -> int:
        return sum(len(pattern.nodes) for pattern in self.accepted)

    @property
    def rejected_node_count(self) -> int:
        """Nodes rejected for a reason of their own."""
        return sum(len(pattern.nodes) for pattern in self.rejected if pattern.message != PREVIOUS_ANNOTATION)

    @property
    def rejected_previous_annotation_count(self) -> int:
        return sum(len(pattern.nodes) for pattern in self.rejected if pattern.message == PREVIOUS_ANNOTATION)

    def quantizer_report(self, include_table: bool) -> str:
        """The block of this quantizer; with `include_table` a row for each node that it decided about."""
        info = self.quantizer_info
        lines = [
            f"{info.name} targeting {info.targeted_nodes_description}",
            f"Annotating with {info.qconfig_label}",
            f"Supported operators and patterns defined by {info.support_config_path}",
        ]
        if not self.accepted and not self.rejected:
            lines.append("No patterns accepted or rejected.")
            return "\n".join(lines)
        lines += [
            f"Accepted nodes: {self.accepted_node_count}",
            f"Rejected due to previous annotation: {self.rejected_previous_annotation_count}",
            f"Rejected nodes: {self.rejected_node_count}",
        ]
        if include_table:
            if self.accepted:
                lines += ["", self._accepted_table()]
            if self.rejected:
                rows = [(name, pattern.message) for pattern in self.rejected for name in pattern.nodes]
                lines += ["", tabulate(rows, headers=("REJECTED NODE", "REASON"), tablefmt="simple")]
        return "\n".join(lines)

    def _accepted_table(self) -> str:
        rows = []
        for pattern in self.accepted:
            for index, node in enumerate(pattern.nodes):
                prefix = _prefix(index, len(pattern.nodes))
                rows.append((prefix + node.name, "\n".join(node.input_qspec_map), node.output_qspec))
        return tabulate(rows, headers=("NODE NAME", "INPUT QSPEC MAP", "OUTPUT QSPEC MAP"), tablefmt="simple")


def _prefix(index: int, count: int) -> str:
    """Draws the bracket around the nodes of one pattern."""
    if count == 1:
        return "  "
    return "╒ " if index == 0 else "╘ " if index == count - 1 else "| "


class QuantizerReporterUser:
    """Base of quantizers that report."""

    def __init__(self) -> None:
        self.reporter: QuantizerReporter | None = None

    def register_reporter(self, reporter: QuantizerReporter) -> None:
        """Reports go to `reporter` from now on."""
        self.reporter = reporter

    def report_accept(self, pattern: Sequence[Node]) -> None:
        if self.reporter is not None:
            self.reporter.reports[self].report_accept(pattern)

    def report_reject(self, pattern: Sequence[Node], message: str) -> None:
        if self.reporter is not None:
            self.reporter.reports[self].report_reject(pattern, message)

    def get_quantizer_info(self) -> QuantizerInfo:
        raise NotImplementedError(f"{type(self).__name__} says nothing about itself: override get_quantizer_info")


class QuantizerReporter:
    """Collects the reports of several quantizers over one model.

    Args:
        quantizers: those that take part; each gets this reporter.
        report_title: first line of the text.
    """

    def __init__(self, quantizers: Sequence[QuantizerReporterUser], report_title: str = "QUANTIZATION REPORT"):
        self.report_title = report_title
        self.reports: dict[QuantizerReporterUser, QuantizerReport] = {}
        self.set_quantizers(quantizers)

    def set_quantizers(self, quantizers: Sequence[QuantizerReporterUser]) -> None:
        """Starts anew with these quantizers."""
        self.reports = {quantizer: QuantizerReport(quantizer.get_quantizer_info()) for quantizer in quantizers}
        for quantizer in quantizers:
            quantizer.register_reporter(self)

    def log_quantizer_report(self, model: GraphModule | None = None) -> None:
        """Logs the counts at level INFO, or at DEBUG, where that is enabled, everything."""
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s", self.get_quantization_report(model, extended=True))
        elif logger.isEnabledFor(logging.INFO):
            logger.info("%s", self.get_quantization_report(model, extended=False))

    def get_quantization_report(self, model: GraphModule | None = None, extended: bool = False) -> str:
        """The text; with `extended` and a model also the nodes of it that nobody annotated."""
        rule = "-" * WIDTH
        blocks = [rule, self.report_title.center(WIDTH).rstrip(), rule]
        for report in self.reports.values():
            blocks += [report.quantizer_report(extended), rule]
        if extended and model is not None:
            names = [
                node.name
                for node in model.graph.nodes
                if node.op == "call_function" and Q_ANNOTATION_KEY not in node.meta
            ]
            blocks += [f"Non annotated nodes: {', '.join(names) or 'none'}", rule]
        return "\n".join(blocks)
