"""From what a user hands in to a graph: checks of the module and its inputs, and torch.export.

Whatever does not fit ends in a ModelError of one sentence that names the input, the sample or the user's own line. Where the
user's code raised, that error follows as its cause, with the traceback from the user's first line on.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.utils import _pytree as pytree
from torchao.quantization.pt2e import move_exported_model_to_eval

from cortex_m.errors import ModelError, UserCodeError
from cortex_m.quantizer.known_values import require_known_values
from cortex_m.quantizer.match import fake
from cortex_m.quantizer.regions import inline_regions
from cortex_m.quantizer.report import source_location

Inputs = tuple[torch.Tensor, ...]

_OTHER_FLOATS = (torch.float16, torch.bfloat16, torch.float64)
# Files whose frames in a traceback are not the user's: those of torch, of the export itself, and generated code.
_OURS = tuple(str(Path(__file__).parent / name) for name in ("capture.py", "export.py", "own_copy.py"))
_NOT_THE_USERS = (str(Path(torch.__file__).parent), *_OURS, "<")


def as_module(module: Any) -> torch.nn.Module:
    """`module`, or the module of an ExportedProgram, in evaluation. ModelError for anything else."""
    if isinstance(module, ExportedProgram):
        return move_exported_model_to_eval(module.module())
    if isinstance(module, torch.jit.ScriptModule):
        raise ModelError("the module is compiled by torch.jit, which torch.export cannot capture: give the one before")
    if isinstance(module, torch.nn.Module):
        return module
    name = getattr(module, "__name__", type(module).__name__)
    if isinstance(module, type) and issubclass(module, torch.nn.Module):
        raise ModelError(f"{name} is a class: give a module of it, {name}(...)")
    what = f"{name} is a function" if callable(module) else f"the module is a {type(module).__name__}"
    raise ModelError(f"{what}, not a torch.nn.Module: call it in the forward of one")


def as_call(values: Any, what: str) -> Inputs:
    """One call's positional arguments as a tuple of tensors. ModelError for anything else; `what` says whose they are."""
    if isinstance(values, torch.Tensor):
        raise ModelError(f"{what} is a tensor, not a tuple of them: write (x,) for a model with one input")
    if not isinstance(values, (tuple, list)):
        raise ModelError(
            f"{what} is a {type(values).__name__}, not a tuple of tensors: give the arguments of forward in their order"
        )
    for position, value in enumerate(values):
        if not isinstance(value, torch.Tensor):
            raise ModelError(f"{_input(what, position)} is a {type(value).__name__}, not a tensor")
        if value.layout is not torch.strided or value.is_quantized or value.device.type != "cpu":
            kind = value.device if value.device.type != "cpu" else value.dtype if value.is_quantized else value.layout
            raise ModelError(f"{_input(what, position)} is {kind}: give a dense tensor on the CPU")
        if value.is_complex():
            raise ModelError(f"{_input(what, position)} is {value.dtype}, and no operator takes complex numbers")
        if value.numel() == 0:
            raise ModelError(f"{_input(what, position)} has shape {tuple(value.shape)} and so no element")
        if value.is_floating_point() and not bool(value.isfinite().all()):
            bad = "NaN" if bool(value.isnan().any()) else "infinity"
            raise ModelError(
                f"{_input(what, position)} has {bad} in {int((~value.isfinite()).sum())} of {value.numel()} values"
            )
    return tuple(values)


def as_calls(samples: Iterable[Any], kind: str, example: Inputs) -> list[Inputs]:
    """Samples of the inputs that `example` is one of. ModelError names the first that is not."""
    if isinstance(samples, (torch.Tensor, dict)):
        raise ModelError(f"{kind} is a {type(samples).__name__}: give a list of calls, [(x,), (x,), ...]")
    found = []
    for number, sample in enumerate(samples):
        call = as_call(sample, f"{kind} sample {number}")
        got, want = [tuple(t.shape) for t in call], [tuple(t.shape) for t in example]
        if got != want:
            raise ModelError(f"{kind} sample {number} has shapes {got}, the example inputs have {want}")
        for position, (value, like) in enumerate(zip(call, example)):
            if value.dtype != like.dtype:
                raise ModelError(
                    f"{kind} sample {number}, input {position} is {value.dtype}, the example input is {like.dtype}"
                )
        found.append(call)
    return found


def _input(what: str, position: int) -> str:
    return f"example input {position}" if what == "example_inputs" else f"{what}, input {position}"


@dataclasses.dataclass(frozen=True)
class Captured:
    """module: in float32 and evaluation. graph: of it, with a flat tuple of tensors as result. The calls are made for both.

    warnings: sentences on what will cost accuracy, or was changed.
    """

    module: torch.nn.Module
    graph: GraphModule
    example_inputs: Inputs
    calibration: list[Inputs]
    evaluation: list[Inputs]
    float_outputs: list[torch.Tensor]
    warnings: list[str]


def capture(
    module: torch.nn.Module,
    name: str,
    example_inputs: Any,
    calibration: Iterable[Any],
    evaluation: Iterable[Any],
    output_shapes: Sequence[Sequence[int]] | None,
    progress: Callable[[str], None],
) -> Captured:
    """Checks everything, runs the float module once and captures it. Changes `module`: it is a copy in eval mode.

    Raises ModelError.
    """
    example = as_call(example_inputs, "example_inputs")
    samples = as_calls(calibration, "calibration", example)
    judged = as_calls(evaluation, "evaluation", example)
    _require_numbers(module)
    warnings = _ranges(example, samples)
    if other := sorted({str(p.dtype) for p in module.parameters() if p.dtype in _OTHER_FLOATS}):
        warnings.append(f"{name} has parameters in {', '.join(other)}: it is exported, and compared, in torch.float32")
        module = module.float()
        example, *rest = (tuple(map(_to_float32, call)) for call in (example, *samples, *judged))
        samples, judged = rest[: len(samples)], rest[len(samples) :]
    example = tuple(map(_dense, example))
    samples, judged = ([_like(call, example) for call in calls] for calls in (samples, judged))
    for warning in warnings:
        progress(f"warning: {warning}")
    progress("running the float model")
    outputs = run_float(module, name, example)
    if output_shapes is not None:
        returned, declared = [list(t.shape) for t in outputs], [list(shape) for shape in output_shapes]
        if returned != declared:
            raise ModelError(f"{name} returns shapes {returned}, but {declared} is declared")
    progress("capturing the graph")
    graph = _export(module, name, example)
    _flatten_results(graph)
    return Captured(module, graph, example, samples, judged, outputs, warnings)


def run_float(module: torch.nn.Module, name: str, inputs: Inputs) -> list[torch.Tensor]:
    """What the float module gives: its tensors in order, whatever holds them; buffers stay as they are.

    Raises ModelError if the module gives something else than tensors, UserCodeError if it raises.
    """
    buffers = {buffer: value.detach().clone() for buffer, value in module.named_buffers()}
    copies = tuple(value.clone(memory_format=torch.preserve_format) for value in inputs)
    try:
        with torch.no_grad():
            results = torch.func.functional_call(module, buffers, copies)
    except Exception as error:  # noqa: BLE001  whatever the user's code raises
        sentence = f"{name} fails on its example inputs{_where(error)}: {_first_line(error)}"
        if (own := _from_the_users_first_line(error.__traceback__)) is None:
            raise ModelError(sentence) from None
        raise UserCodeError(sentence) from error.with_traceback(own)
    leaves = [leaf for leaf in pytree.tree_leaves(results) if leaf is not None]
    for position, value in enumerate(leaves):
        if not isinstance(value, torch.Tensor):
            raise ModelError(f"output {position} of {name} is a {type(value).__name__}, not a tensor")
        if value.numel() == 0:
            raise ModelError(f"output {position} of {name} has shape {tuple(value.shape)} and so no element")
    if not leaves:
        raise ModelError(f"{name} returns no tensor")
    return leaves


def _export(module: torch.nn.Module, name: str, example: Inputs) -> GraphModule:
    try:
        graph = torch.export.export(module, example).module()
    except Exception as error:  # noqa: BLE001  torch.export has dozens of kinds
        where = _where(error)
        if "DataDependent" in type(error).__name__ or "data-dependent" in str(error):
            raise ModelError(
                f"{name}{where} decides by the values of a run, and a program runs the same operators each time: choose with "
                "torch.where, or take the decision out of forward"
            ) from None
        raise ModelError(f"torch.export cannot capture {name}{where}: {_first_line(error)}") from None
    inline_regions(graph)
    require_known_values(graph.graph)
    for node in graph.graph.nodes:
        if (value := fake(node)) is not None and value.dtype is torch.bfloat16:
            raise ModelError(
                f"{source_location(node)}: {node.name} ({node.target}) is torch.bfloat16, which no operator here takes: "
                "compute it in torch.float32"
            )
    return graph


def _flatten_results(graph: GraphModule) -> None:
    """A tuple of tensors, whatever the module returns: a dict, a NamedTuple or a class of the user's; nothing for None.

    Programs know no names of results, and torch cannot write down a class that it does not know.
    """
    output = graph.graph.output_node()
    results = output.args[0]
    if not isinstance(results, (tuple, list)):
        return
    flat = tuple(value for value in pytree.tree_leaves(results) if value is not None)
    output.args = (flat,)
    codegen: Any = graph.graph._codegen
    codegen.pytree_info = codegen.pytree_info._replace(out_spec=pytree.tree_structure(tuple(0 for _ in flat)))
    graph.recompile()


def _require_numbers(module: torch.nn.Module) -> None:
    """Parameters are finite, buffers no NaN: infinity in a buffer is a mask."""
    for kind, tensors in (("parameter", module.named_parameters()), ("buffer", module.named_buffers())):
        for name, value in tensors:
            if value.device.type != "cpu":
                raise ModelError(f"{kind} {name} is on {value.device}: move the module to the CPU first")
            if not value.is_floating_point():
                continue
            bad = value.isnan() if kind == "buffer" else ~value.isfinite()
            if bool(bad.any()):
                what = "NaN" if bool(value.isnan().any()) else "infinity"
                raise ModelError(f"{kind} {name} has {what} in {int(bad.sum())} of {value.numel()} values")


def _ranges(example: Inputs, samples: list[Inputs]) -> list[str]:
    """What calibration cannot know from these samples."""
    found = []
    if not samples:
        found.append(
            "there are no calibration samples, so the example inputs alone say what values to expect; give real ones"
        )
    for position, like in enumerate(example):
        values = [sample[position] for sample in samples] or [like]
        if not like.is_floating_point() or like.numel() == 1:
            continue
        low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
        if low == high:
            kind = "calibration sample" if samples else "example input"
            found.append(
                f"input {position} is {low:g} throughout in each {kind}, so no range behind it is known; give real ones"
            )
    return found


def _to_float32(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.dtype in _OTHER_FLOATS else value


def _dense(value: torch.Tensor) -> torch.Tensor:
    """In the memory order that a program can take: contiguous or channels_last as it is, anything else contiguous."""
    orders = [torch.contiguous_format, *([torch.channels_last] if value.dim() == 4 else [])]
    if any(value.stride() == torch.empty_like(value, device="meta", memory_format=order).stride() for order in orders):
        return value.detach()
    order = next((order for order in orders if value.is_contiguous(memory_format=order)), torch.contiguous_format)
    return value.detach().clone(memory_format=order)


def _like(call: Inputs, example: Inputs) -> Inputs:
    """`call` in the memory order of the example, which the captured graph was made for."""
    return tuple(
        value.detach() if value.stride() == like.stride() else torch.empty_like(like).copy_(value.detach())
        for value, like in zip(call, example)
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    if isinstance(error, KeyError) or not lines:
        return f"{type(error).__name__} {' '.join(lines)}".strip()
    return lines[0]


def _is_the_users(filename: str) -> bool:
    return not filename.startswith(_NOT_THE_USERS)


def _from_the_users_first_line(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and not _is_the_users(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _where(error: BaseException) -> str:
    """ " at net.py:12 (`return y.numpy()`)": the user's innermost line that led to `error`; "" if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_the_users(frame.filename)]
    return f" at {frames[-1].filename}:{frames[-1].lineno} (`{frames[-1].line}`)" if frames else ""
