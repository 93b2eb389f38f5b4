"""What the program takes and gives: float tensors, or with quantize_io=False the integers that stand for them.

Either way the report says of each input and output what it is, with scale and zero point where it is quantized.
"""

from dataclasses import replace

import torch
from torch.export.graph_signature import OutputKind
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import QParams, dequantize_params, quantize_params
from cortex_m.passes.report import BoundaryTensor, LoweringReport, source_line
from cortex_m.target_config import CortexMTargetConfig


class BoundaryTypesPass(CortexMPass):
    """Takes the quantize nodes off the inputs and the dequantize nodes off the outputs if quantize_io is False.

    Raises ValueError for a float input that is read in float, or an output that an operator gives in float.
    """

    def __init__(
        self,
        target_config: CortexMTargetConfig | None = None,
        report: LoweringReport | None = None,
        quantize_io: bool = True,
    ) -> None:
        super().__init__(target_config, report)
        self._quantize_io = quantize_io

    def run(self, editor: GraphEditor) -> None:
        signature = editor.program.graph_signature
        names = set(signature.user_inputs)
        inputs = [node for node in editor.graph.nodes if node.op == "placeholder" and node.name in names]
        output = editor.graph.output_node()
        results = list(output.args[0])
        own = [spec.kind is OutputKind.USER_OUTPUT for spec in signature.output_specs]
        output_params: list[QParams | None] = [None] * len(results)
        input_params: list[QParams | None] = [None] * len(inputs)
        if not self._quantize_io:
            for index, result in enumerate(results):
                if own[index] and _is_float(result):
                    output_params[index] = params = dequantize_params(result)
                    if params is None:
                        raise ValueError(
                            f"quantize_io=False: output {index} is float, from {result.name} [{source_line(result)}]"
                        )
                    results[index] = result.args[0]
            output.args = (type(output.args[0])(results),)
            for index, node in enumerate(inputs):
                if _is_float(node) and node.users:
                    input_params[index] = _take_off(editor, node)
        results = output.args[0]
        self.report.inputs = [_describe(node.name, node, params) for node, params in zip(inputs, input_params)]
        self.report.outputs = [
            _describe(f"output_{index}", result, params)
            for index, (result, params) in enumerate(zip(results, output_params))
            if own[index]
        ]


def _is_float(node: object) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _take_off(editor: GraphEditor, node: Node) -> QParams:
    """Makes the input `node` what its quantize nodes give; these go."""
    users = list(node.users)
    params: list[QParams] = []
    for user in users:
        found = quantize_params(user)
        if found is not None:
            params.append(found)
        else:
            reader = f"{user.name} [{source_line(user)}]" if user.op != "output" else "the program's output"
            raise ValueError(f"quantize_io=False: input {node.name} is read in float by {reader}")
    if len(set(params)) > 1:
        scales = ", ".join(f"{found.scale:g}/{found.zero_point}" for found in dict.fromkeys(params))
        raise ValueError(
            f"quantize_io=False: input {node.name} is quantized with different scales/zero points: {scales}"
        )
    with editor.fake_mode:
        node.meta["val"] = node.meta["val"].to(params[0].dtype)
    for user in users:
        editor.replace(user, node)
        editor.erase_if_unused(user)
    return params[0]


def _describe(name: str, node: object, params: QParams | None) -> BoundaryTensor:
    value = node.meta.get("val") if isinstance(node, Node) else node
    if not isinstance(value, torch.Tensor):
        return BoundaryTensor(name, (), type(value).__name__)
    described = BoundaryTensor(name, tuple(value.shape), str(value.dtype).removeprefix("torch."))
    if params is None:
        return described
    return replace(
        described,
        scale=params.scale,
        zero_point=params.zero_point,
        quant_min=params.quant_min,
        quant_max=params.quant_max,
    )
