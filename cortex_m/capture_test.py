"""What users hand in: taken and right, or refused in one sentence; their module stays as it was."""

import copy
import threading
import traceback
from typing import NamedTuple

import pytest
import torch
from torch import nn

from cortex_m import ModelSource, export_model
from cortex_m.errors import ModelError, UserCodeError
from cortex_m.quantizer import batch_norms

SHAPE = (1, 3, 8, 8)


def image(seed: int = 0, shape=SHAPE) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X = (image(),)
SAMPLES = [(image(seed),) for seed in range(1, 5)]


class Net(nn.Module):
    """`function(net, x)` over a convolution and a norm."""

    def __init__(self, function=lambda m, x: m.norm(m.conv(x)).relu()) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.2, 3)

    def forward(self, *args):
        return self.function(self, *args)


def export(module, inputs=X, **fields):
    return export_model(ModelSource(module, inputs, **fields))


class Locked(Net):
    """Python cannot copy it."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Hooked(Net):
    """Has a weight that a hook computes, which deepcopy refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.utils.weight_norm(self.conv)


class Writes(Net):
    """Changes a buffer in forward."""

    def __init__(self) -> None:
        super().__init__(lambda m, x: m.conv(x) * m.calls.add_(1))
        self.register_buffer("calls", torch.ones(1))


@pytest.mark.parametrize("kind", [Net, Locked, Hooked, Writes])
def test_the_module_stays_as_it_was(kind):
    module = kind().train()
    module.norm.eval()  # a mode of its own
    module.conv.bias.requires_grad_(False)
    seen = []
    module.conv.register_forward_hook(lambda *_: seen.append(1))
    inputs = (image(),)

    def state():
        return (
            {name: part.training for name, part in module.named_modules()},
            {name: value.requires_grad for name, value in module.named_parameters()},
            {name: len(part._forward_hooks) + len(part._forward_pre_hooks) for name, part in module.named_modules()},
            {name: id(value) for name, value in (*module.named_parameters(), *module.named_buffers())},
        )

    before, values = state(), copy.deepcopy(module.state_dict())
    try:
        export(module, inputs, calibration=SAMPLES)
    except ModelError:
        assert kind is Writes  # whatever becomes of it
    assert state() == before
    after = module.state_dict()
    assert after.keys() == values.keys() and all(torch.equal(after[name], value) for name, value in values.items())
    assert torch.equal(inputs[0], image())


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: {"second": m.conv(x), "first": x + 1},
        lambda m, x: Pair(m.conv(x), x + 1),
        lambda m, x: (m.conv(x), (x + 1, [x * 2])),
        lambda m, x: (None, m.conv(x), None),
        lambda m, x: torch.max(m.conv(x), 1),
        lambda m, x: torch.return_types.sort((m.conv(x), x + 1)),
        lambda m, x: (m.conv(x), x),
        lambda m, x: m.conv(x).abs().mean(),
    ],
    ids=["dict", "NamedTuple", "nested", "None", "max", "sort", "input", "scalar"],
)
def test_results_in_whatever_holds_them(function):
    result = export(Net(function), calibration=[X, *SAMPLES])
    assert len(result.expected) == len(result.float_outputs) and result.sqnr_db > 25
    for given, wanted in zip(result.expected, result.float_outputs, strict=True):
        assert given.shape == wanted.shape and given.dtype == wanted.dtype


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda m, i, x: m.conv(x) + i.float().view(1, -1, 1, 1), (torch.arange(4), image())),
        (lambda m, i, x: torch.where(i, m.conv(x), 0.0), (image(3, (1, 4, 8, 8)) > 0, image())),
        (lambda m, x, y: m.conv(x) + m.conv(y), [image(), image(1)]),
        (lambda m, x: m.conv(x), (image(0, (1, 8, 8, 3)).permute(0, 3, 1, 2),)),
        (lambda m, x: m.conv(x), (image(0, (1, 3, 8, 16))[..., ::2],)),
        (lambda m, x: m.conv(x), (image(0, (1, 1, 8, 8)).expand(SHAPE),)),
        (lambda m, x: m.conv(x.float() / 255), (torch.randint(0, 255, SHAPE, dtype=torch.uint8),)),
    ],
    ids=["int", "bool", "two", "channels_last", "strided", "expanded", "uint8"],
)
def test_inputs_of_all_kinds(function, inputs):
    assert export(Net(function), inputs).sqnr_db > 30


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floats_are_exported_in_float32(dtype):
    steps = []
    module = Net().to(dtype)
    source = ModelSource(module, (image().to(dtype),), [tuple(x.to(dtype) for x in call) for call in SAMPLES])
    result = export_model(source, progress=steps.append)
    sentence = f"Net has parameters in {dtype}: it is exported, and compared, in torch.float32"
    assert f"warning: {sentence}" in steps and f"Warning: {sentence}" in str(result.quantizer_report)
    assert result.inputs[0].dtype == torch.float32 and result.sqnr_db > 30
    assert module.conv.weight.dtype == dtype


def permuted(module: nn.Module) -> nn.Module:
    for parameter in module.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.permute(2, 3, 1, 0).contiguous().permute(3, 2, 0, 1)
    return module


def test_weights_in_any_order_of_memory_are_the_same_bytes():
    module = nn.Sequential(Net(), nn.Conv2d(4, 4, 3, groups=4), nn.ReLU(), nn.ConvTranspose2d(4, 3, 2, 2)).eval()
    programs = [
        export(form, calibration=SAMPLES).program
        for form in (
            module,
            copy.deepcopy(module).to(memory_format=torch.channels_last),
            permuted(copy.deepcopy(module)),
        )
    ]
    assert programs[1] == programs[0] and programs[2] == programs[0]


class ByKeyword(Net):
    def forward(self, x, *, gain):
        return self.conv(x) * gain


def branches(m, x):
    y = m.conv(x)
    if y.sum() > 0:
        return y
    return -y


NAN, HUGE = image().clone(), image().clone()
NAN[0, 0, 0, :3] = float("nan")
HUGE[0, 0, 0, 0] = float("inf")


def with_weight(value: float) -> nn.Module:
    module = Net()
    module.conv.weight.data[0, 0, 0, 0] = value
    return module


LINE = r"capture_test.py:\d+"
REFUSED = {
    "tensor": (Net(), image(), {}, r"example_inputs is a tensor, not a tuple of them: write \(x,\)"),
    "dict": (Net(), {"x": image()}, {}, "example_inputs is a dict, not a tuple of tensors"),
    "nested": (Net(), ((image(),),), {}, "example input 0 is a tuple, not a tensor"),
    "number": (Net(), (3.0,), {}, "example input 0 is a float, not a tensor"),
    "complex": (Net(), (image() + 1j,), {}, "example input 0 is torch.complex64"),
    "sparse": (Net(), (image().to_sparse(),), {}, "example input 0 is torch.sparse_coo: give a dense tensor"),
    "empty batch": (Net(), (image(0, (0, 3, 8, 8)),), {}, r"example input 0 has shape \(0, 3, 8, 8\) and so no element"),
    "NaN input": (Net(), (NAN,), {}, "example input 0 has NaN in 3 of 192 values"),
    "NaN sample": (Net(), X, {"calibration": [X, (NAN,)]}, "calibration sample 1, input 0 has NaN in 3 of 192"),
    "infinite sample": (Net(), X, {"evaluation": [(HUGE,)]}, "evaluation sample 0, input 0 has infinity in 1 of 192"),
    "NaN weight": (with_weight(float("nan")), X, {}, "parameter conv.weight has NaN in 1 of 108 values"),
    "infinite weight": (with_weight(float("-inf")), X, {}, "parameter conv.weight has infinity in 1 of 108 values"),
    "NaN inside": (Net(lambda m, x: m.conv(x.log())), X, {}, rf"{LINE}: log \(aten.log.default\) gives NaN on the example"),
    "infinity inside": (
        Net(lambda m, x: m.conv(x) / (x[:, :1] - x[:, :1])), X, {"calibration": SAMPLES},
        rf"{LINE}: div \(aten.div.Tensor\) gives .* on calibration sample 0, and no range of int8 has it",
    ),
    "dtype of a sample": (
        Net(), X, {"calibration": [X, (image().double(),)]},
        "calibration sample 1, input 0 is torch.float64, the example input is torch.float32",
    ),
    "inputs of a sample": (Net(), X, {"calibration": [(image(), image())]}, "calibration sample 0 has shapes .* example"),
    "sample that is a tensor": (Net(), X, {"calibration": [image()]}, "calibration sample 0 is a tensor, not a tuple"),
    "samples that are a tensor": (Net(), X, {"calibration": image()}, "calibration is a Tensor: give a list of calls"),
    "function": (branches, X, {}, "branches is a function, not a torch.nn.Module: call it in the forward of one"),
    "class": (Net, X, {}, r"Net is a class: give a module of it, Net\(...\)"),
    "no module": (3, X, {}, "the module is a int, not a torch.nn.Module"),
    "keyword": (ByKeyword(), X, {}, "ByKeyword fails on its example inputs: .*missing 1 required keyword-only argument"),
    "branch": (Net(branches), X, {}, rf"Net at .*{LINE} \(`if y.sum\(\) > 0:`\) decides by the values of a run"),
    "boolean index": (Net(lambda m, x: m.conv(x)[x[:, :1].expand(1, 4, 8, 8) > 0]), X, {}, rf"{LINE}: the values of a run"),
    "nonzero": (Net(lambda m, x: torch.nonzero(m.conv(x) > 0)), X, {}, rf"{LINE}: the values of a run decide the shape"),
    "complex inside": (Net(lambda m, x: torch.fft.rfft(x).abs()), X, {}, rf"{LINE}: fft_rfft .* makes complex numbers"),
    "bfloat16 inside": (Net(lambda m, x: x.bfloat16() * 2), X, {}, rf"{LINE}: .* is torch.bfloat16"),
    "number as result": (Net(lambda m, x: (m.conv(x), 3)), X, {}, "output 1 of Net is a int, not a tensor"),
    "no result": (Net(lambda m, x: None), X, {}, "Net returns no tensor"),
    "meta": (Net().to("meta"), X, {}, "parameter conv.weight is on meta"),
    "no statistics": (
        nn.Sequential(Net(), nn.BatchNorm2d(4, track_running_stats=False)), X, {},
        r"1 \(nn.BatchNorm2d\): batch_norm_1 has no running statistics",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused_in_one_sentence(name):
    module, inputs, fields, sentence = REFUSED[name]
    with pytest.raises(ModelError, match=sentence) as caught:
        export(module, inputs, **fields)
    assert "\n" not in str(caught.value)
    # Nothing of torch, torchao or this package is printed after it.
    assert caught.value.__cause__ is None or isinstance(caught.value, UserCodeError)


def test_errors_of_the_users_code_keep_their_traceback():
    def wrong(m, x):
        return helper(x)

    def helper(x):
        return x.reshape(5, 5)

    with pytest.raises(
        UserCodeError, match=rf"Net fails on its example inputs at .*{LINE} \(`return x.reshape"
    ) as caught:
        export(Net(wrong))
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert [frame.name for frame in frames][-2:] == ["wrong", "helper"] and frames[0].filename == __file__


@pytest.mark.parametrize(
    ("inputs", "calibration", "sentence"),
    [
        (X, [], "there are no calibration samples, so the example inputs alone say what values to expect"),
        (X, [(torch.zeros(SHAPE),)] * 3, "input 0 is 0 throughout in each calibration sample"),
        ((torch.full(SHAPE, 2.5),), [], "input 0 is 2.5 throughout in each example input"),
    ],
    ids=["none", "zeros", "constant"],
)
def test_calibration_that_says_little_is_a_warning(inputs, calibration, sentence):
    steps = []
    result = export_model(ModelSource(Net(), inputs, calibration), progress=steps.append)
    assert any(step.startswith(f"warning: {sentence}") for step in steps), steps
    assert f"Warning: {sentence}" in str(result.quantizer_report)


def test_real_calibration_is_no_warning():
    assert "Warning" not in str(export(Net(), calibration=SAMPLES).quantizer_report)


def test_a_graph_that_computes_something_else_is_refused(monkeypatch):
    """The guard: with one faulty step in preparation, here weights folded with 1 % too much, nothing is exported."""
    scaled = batch_norms.scaled_weight
    monkeypatch.setattr(batch_norms, "scaled_weight", lambda *args: scaled(*args) * 1.01)
    module = nn.Sequential(nn.Conv2d(3, 3, 1), Net(), nn.Conv2d(4, 2, 1))
    with pytest.raises(ModelError, match=rf"not the function of the module: .* dB .* apart at conv2d_1 \(.*{LINE}"):
        export(module, calibration=SAMPLES)
