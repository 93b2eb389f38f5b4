"""Brings an exported graph into the form that the pattern table describes, before annotation.

What is done, in this order; none of it changes what the model computes:
  - what stands under no_grad and its like is inlined (`regions`);
  - buffers that the model changes are read at the beginning and written at the end (`state`);
  - the guards node of `torch.export.export(...).module()` and its kin (metadata assertions) go;
  - graph inputs move before the constants, so that conversion meets their recorders before any other observer;
  - tensor keyword arguments become positional (PT2E quantizes positional ones only);
  - in-place operators become out-of-place ones, and synonyms one operator;
  - operators that change nothing go: dropout in evaluation, clone, contiguous, casts to the same dtype, reshapes to
    the same shape, zero-width padding, windows of one element;
  - recurrent cells become the layers that they are (`cells`);
  - windows over one dimension, layers without a batch, matrix products: one form each (`canonical_windows`,
    `canonical_matrices`);
  - interpolation, and means over windows of different sizes, are linear layers (`resample`);
  - masks before a softmax: one form (`masks`);
  - operators with several results (split, max along a dim) become single ones: see `decompose`;
  - `padding="same"` and `"valid"` become numbers, and a pad where they are not symmetric;
  - what is computed from parameters alone becomes a parameter (`constants`);
  - batch norms go into the layer before them, or become depthwise 1x1 convolutions (`batch_norms`);
  - each layer gets its own copy of its constants, so that the float model keeps its weights whatever happens here,
    and a bias of zeros where it has none: rounding the weights puts its mean error there.
"""

from __future__ import annotations

import torch
from torch._ops import OpOverload
from torch.export.unflatten import _assign_attr, _AttrKind
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from cortex_m.errors import ModelError
from cortex_m.quantizer.aliasing import derives_from, is_in_place, memory_owner
from cortex_m.quantizer.batch_norms import fold_batch_norms, make_batch_norms_depthwise
from cortex_m.quantizer.canonical_matrices import make_matrices_canonical
from cortex_m.quantizer.canonical_windows import make_windows_canonical
from cortex_m.quantizer.cells import unfold_cells
from cortex_m.quantizer.constants import fold_constants, make_constants_contiguous
from cortex_m.quantizer.decompose import decompose
from cortex_m.quantizer.masks import make_masks_canonical
from cortex_m.quantizer.match import argument, fake
from cortex_m.quantizer.regions import inline_regions
from cortex_m.quantizer.report import RemovedNode, source_location
from cortex_m.quantizer.resample import make_resampling_linear
from cortex_m.quantizer.state import make_state_explicit
from cortex_m.quantizer.synonyms import use_one_name

aten = torch.ops.aten

_DROPOUTS = (
    aten.dropout.default,
    aten.feature_dropout.default,
    aten.alpha_dropout.default,
    aten.feature_alpha_dropout.default,
)
_COPIES = (
    aten.clone.default,
    aten.contiguous.default,
    aten.detach.default,
    aten.alias.default,
    aten.lift_fresh_copy.default,
    aten.to.dtype,
    aten.to.dtype_layout,
    aten.to.device,
    aten._to_copy.default,
)
_RESHAPES = (
    aten.view.default,
    aten.reshape.default,
    aten._unsafe_view.default,
    aten.flatten.using_ints,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.expand.default,
    aten.adaptive_avg_pool2d.default,
)
_WITH_CONSTANTS = (aten.conv2d.default, aten.linear.default, aten.conv_transpose2d.input)


_ROUNDED = (aten.conv2d.default, aten.linear.default)  # by tuning


def prepare_graph(model: GraphModule, training: bool = False) -> tuple[GraphModule, list[RemovedNode]]:
    """Does all of the above, with `training` all but the first and the last two; returns the model and what was removed.

    In place, but for a model that changes buffers: that is copied.

    Raises ModelError for an in-place operator whose effect another view of its tensor would see, for control flow,
    and without `training` for a batch norm in training mode or without running statistics.
    """
    inline_regions(model)
    _remove_guards(model)
    if not training:
        _require_evaluation_mode(model)
        model = make_state_explicit(model)
        _remove_guards(model)
    _move_inputs_first(model)
    _make_tensors_positional(model)
    _make_out_of_place(model)
    use_one_name(model)
    reordered = make_constants_contiguous(model)
    removals = _remove_identities(model)
    if removals or reordered:
        _accept_any_strides(model)
    if not training:
        fold_constants(model)
        fold_batch_norms(model)
    unfold_cells(model)
    make_windows_canonical(model, training)
    if not training:
        make_resampling_linear(model)
    make_matrices_canonical(model)
    if not training:
        make_masks_canonical(model)
    decompose(model)
    _make_padding_numeric(model)
    if not training:
        make_batch_norms_depthwise(model)
        _own_constants(model)
    model.graph.eliminate_dead_code()
    model.graph.lint()
    model.recompile()
    return model, removals


class PrepareGraphPass(PassBase):
    """`prepare_graph` as a pass, for those who annotate a graph themselves."""

    def call(self, graph_module: GraphModule) -> PassResult:
        return PassResult(prepare_graph(graph_module)[0], True)


def _require_evaluation_mode(model: GraphModule) -> None:
    for node in model.graph.nodes:
        if node.target is not aten.batch_norm.default or not argument(node, 5):
            continue
        if argument(node, 3) is None:
            raise ModelError(
                f"{source_location(node)}: {node.name} has no running statistics (track_running_stats=False): it would take "
                "them from each batch. Train it with them, or use nn.InstanceNorm or nn.GroupNorm."
            )
        raise ModelError(
            f"{source_location(node)}: {node.name} is in training mode. Call eval() before torch.export, or to train "
            "with rounded values, prepare_qat_pt2e with CortexMQuantizer(is_qat=True)."
        )


def _remove_guards(model: GraphModule) -> None:
    for node in list(model.graph.nodes):
        is_guard = node.op == "call_module" and type(model.get_submodule(node.target)).__name__ == "GuardsFn"
        if is_guard or node.target is aten._assert_tensor_metadata.default:
            model.graph.erase_node(node)
            if is_guard:
                model.delete_submodule(node.target)


def _move_inputs_first(model: GraphModule) -> None:
    inputs = [node for node in model.graph.nodes if node.op == "placeholder"]
    first = next(node for node in model.graph.nodes if node.op != "placeholder")
    for node in inputs:
        first.prepend(node)


def _make_tensors_positional(model: GraphModule) -> None:
    for node in model.graph.nodes:
        if not isinstance(node.target, OpOverload) or not node.kwargs:
            continue
        args, kwargs = list(node.args), dict(node.kwargs)
        for position, parameter in enumerate(node.target._schema.arguments):
            if parameter.kwarg_only or not kwargs:
                break
            if position < len(args):
                continue
            args.append(kwargs.pop(parameter.name, parameter.default_value))
        node.args, node.kwargs = tuple(args), kwargs


def _out_of_place(target: OpOverload) -> OpOverload | None:
    name = target._schema.name.removeprefix("aten::").removesuffix("_")
    packet = getattr(aten, name, None)
    return getattr(packet, target._overloadname, None) if packet is not None else None


def _make_out_of_place(model: GraphModule) -> None:
    order = {node: index for index, node in enumerate(model.graph.nodes)}
    owner = {node: memory_owner(node) for node in order}
    found = [node for node in order if is_in_place(node) and owner[node].op != "get_attr"]
    # All hazards first: replacing an operator would change who shares memory with whom.
    for node in found:
        for other in order:
            if owner[other] is not owner[node] or derives_from(other, node):
                continue
            if any(order[user] > order[node] for user in other.users):
                raise ModelError(
                    f"{source_location(node)}: {node.target} changes a tensor in place that is read later through "
                    f"another view of it ('{other.name}'); write it out of place."
                )
    for node in found:
        if (functional := _out_of_place(node.target)) is not None:
            node.target = functional


def _changes_nothing(node: Node) -> bool:
    """Whether the value of `node` is, element by element and in shape and dtype, that of its first argument."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return False
    before, after = fake(node.args[0]), fake(node)
    if before is None or after is None or before.dtype != after.dtype or before.shape != after.shape:
        return False
    if node.target in _DROPOUTS:
        return not argument(node, 2)
    if node.target in _COPIES or node.target in _RESHAPES:
        return True
    if node.target in (aten.permute.default, aten.transpose.int):
        return _is_identity_permutation(node, before.dim())
    if node.target in (aten.constant_pad_nd.default, aten.pad.default):
        return not any(argument(node, 1))
    if node.target is aten.avg_pool2d.default:
        return all(size == 1 for size in argument(node, 1)) and argument(node, 6) is None
    return False


def _is_identity_permutation(node: Node, rank: int) -> bool:
    if node.target is aten.transpose.int:
        return argument(node, 1) % rank == argument(node, 2) % rank
    return [dim % rank for dim in argument(node, 1)] == list(range(rank))


def _remove_identities(model: GraphModule) -> list[RemovedNode]:
    written = {memory_owner(node) for node in model.graph.nodes if is_in_place(node)}
    removals: list[RemovedNode] = []
    for node in list(model.graph.nodes):
        if not _changes_nothing(node) or memory_owner(node) in written or memory_owner(node.args[0]) in written:
            continue
        removals.append(RemovedNode(node.name, str(node.target), source_location(node)))
        node.replace_all_uses_with(node.args[0])
        model.graph.erase_node(node)
    return removals


def _accept_any_strides(model: GraphModule) -> None:
    """`view` demands strides that a removed contiguous(), or a weight in another order, has provided; `reshape` does not."""
    for node in model.graph.nodes:
        if node.target is aten.view.default:
            node.target = aten.reshape.default


def _make_padding_numeric(model: GraphModule) -> None:
    for node in list(model.graph.nodes):
        if node.target is not aten.conv2d.padding:
            continue
        source, weight, bias, stride, padding, dilation, groups = (argument(node, i) for i in range(7))
        shape = fake(weight).shape if fake(weight) is not None else None
        if shape is None or fake(source) is None or fake(source).dim() != 4:
            continue
        before, after = [0, 0], [0, 0]
        if padding == "same":
            spread = [*dilation] * 2 if len(dilation) == 1 else dilation
            total = [d * (size - 1) for d, size in zip(spread, shape[2:])]
            before = [t // 2 for t in total]
            after = [t - b for t, b in zip(total, before)]
        if before != after:
            source = _insert_pad(model, node, source, before, after)
            before = [0, 0]
        node.target = aten.conv2d.default
        node.args = (source, weight, bias, list(stride), before, list(dilation), groups)


def _insert_pad(model: GraphModule, node: Node, source: Node, before: list[int], after: list[int]) -> Node:
    widths = [before[1], after[1], before[0], after[0]]
    with model.graph.inserting_before(node):
        padded = model.graph.call_function(aten.constant_pad_nd.default, (source, widths, 0.0))
    padded.meta = dict(node.meta)
    padded.meta["val"] = aten.constant_pad_nd.default(fake(source), widths, 0.0)
    return padded


def _own_constants(model: GraphModule) -> None:
    buffers = {name for name, _ in model.named_buffers()}
    claimed: set[str] = set()
    for node in list(model.graph.nodes):
        if node.target not in _WITH_CONSTANTS:
            continue
        for position in (1, 2):
            constant = argument(node, position)
            if isinstance(constant, Node) and constant.op == "get_attr":
                name = constant.target
                if name in claimed or name in buffers or len(constant.users) > 1:
                    name = f"{name}_of_{node.name}"
                claimed.add(name)
                _set_constant(model, node, position, name, _attribute(model, constant.target).detach().clone())
            elif (
                constant is None
                and node.target in _ROUNDED
                and isinstance(node.args[1], Node)
                and node.args[1].op == "get_attr"
            ):
                weight = _attribute(model, node.args[1].target)
                _set_constant(model, node, position, f"{node.name}_zero_bias", weight.new_zeros(weight.shape[0]))


def _set_constant(model: GraphModule, node: Node, position: int, name: str, value: torch.Tensor) -> None:
    _assign_attr(torch.nn.Parameter(value, requires_grad=False), model, name, _AttrKind.PARAMETER)
    if position < len(node.args) and node.args[position] is not None and node.args[position].target == name:
        return
    with model.graph.inserting_before(node):
        own = model.graph.get_attr(name)
    own.meta["val"] = fake(node).new_empty(value.shape)
    node.args = (*node.args[:position], own, *node.args[position + 1 :])


def _attribute(model: GraphModule, name: str) -> torch.Tensor:
    value = model
    for part in name.split("."):
        value = getattr(value, part)
    return value
