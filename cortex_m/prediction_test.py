"""The device's code and the reference, compared instruction by instruction: what passes, and what is named when they part."""

import struct

import pytest
import torch
from torch import nn

from cortex_m import ModelSource, export_model
from cortex_m.host import Program, ProgramError
from cortex_m.prediction import Predictor


class Net(nn.Module):
    """A convolution in int8; a cumulative sum and a comparison in float; the number of calls."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.register_buffer("calls", torch.tensor([7]))

    def forward(self, x):
        y = self.conv(x).cumsum(1)
        self.calls.add_(1)
        return y, y > 0.25, self.calls.clone()


@pytest.fixture(scope="module")
def result():
    torch.manual_seed(0)
    return export_model(ModelSource(Net(), (torch.randn(1, 2, 6, 6),)))


class Altered:
    """A host program that gives another number in the first four bytes of what one operator has computed."""

    def __init__(self, program: Program, op: str, calls: list[tuple[int, str]], change) -> None:
        self._program, self._change = program, change
        self._index = next(index for index, name in calls if name.startswith(op))

    def trace(self, inputs):
        outputs, written = self._program.trace(inputs)
        return outputs, [(i, self._change(data) if i == self._index else data) for i, data in written]


def add_to_byte(data: bytes) -> bytes:
    return bytes([(data[0] + 1) % 256]) + data[1:]


def scale_float(factor: float):
    return lambda data: struct.pack("<f", struct.unpack("<f", data[:4])[0] * factor) + data[4:]


def altered(result, op: str, change) -> Predictor:
    predictor = Predictor(result.program, result.lowering_report.instructions)
    predictor._host = Altered(Program(result.program), op, predictor._reference.calls(), change)  # type: ignore[assignment]
    return predictor


@pytest.mark.parametrize(
    ("op", "change"),
    [
        ("cortex_m::quantize_to_nhwc", add_to_byte),
        ("cortex_m::quantized_conv2d", add_to_byte),
        ("cortex_m::dequantize_from_nhwc", scale_float(1 + 2**-23)),  # not one unit in the last place
        ("aten::gt", lambda data: bytes([1 - data[0]]) + data[1:]),
        ("aten::cumsum", scale_float(1.5)),
        ("aten::cumsum", scale_float(float("nan"))),
    ],
)
def test_the_first_instruction_that_differs_is_named(result, op, change):
    with pytest.raises(
        ProgramError, match=rf"instruction \d+, {op}.*: the device's code and the reference operator differ in"
    ):
        altered(result, op, change).run(result.inputs)


def test_the_error_names_the_source_line(result):
    with pytest.raises(ProgramError, match=r"prediction_test\.py:\d+.*: instruction \d+, aten::cumsum\.out"):
        altered(result, "aten::cumsum", scale_float(1.5)).run(result.inputs)


def test_a_rounding_of_a_float_operator_is_no_difference_and_what_follows_goes_on_from_it(result):
    """Here `outputs` are not altered: that the reference has taken over what it was told is seen at the end."""
    with pytest.raises(ProgramError, match="output 0 differs between the device's code and the reference operators"):
        altered(result, "aten::cumsum", scale_float(1 + 2**-20)).run(result.inputs)


def test_state_goes_on_and_is_reset(result):
    predictor = Predictor(result.program)
    assert [int(predictor.run(result.inputs)[2]) for _ in range(3)] == [8, 9, 10]
    predictor.reset()
    assert all(map(torch.equal, predictor.run(result.inputs), result.expected))
    assert int(result.expected_again[2]) == 9


def test_the_callback_sees_what_the_device_has_computed(result):
    seen = {}
    outputs = Predictor(result.program).run(
        result.inputs, lambda call: seen.update({call.op: [output.clone() for output in call.outputs]})
    )
    assert torch.equal(seen["aten::cumsum.out"][0], outputs[0])


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.AdaptiveAvgPool2d((3, 3)), (1, 2, 7, 7)),
        (nn.Conv2d(3, 4, 3, padding_mode="reflect", padding=1), (1, 3, 5, 5)),
        (nn.Softmax(1), (3, 50)),
        (nn.Softplus(), (2, 40)),
        (nn.LogSigmoid(), (2, 40)),
    ],
    ids=["adaptive_avg_pool2d", "conv2d", "softmax", "softplus", "logsigmoid"],
)
def test_float_operators_are_predicted_by_the_kernels_of_this_repository(module, shape):
    torch.manual_seed(1)
    x = torch.randn(shape) * 3
    result = export_model(ModelSource(module, (x,)))
    (expected,) = result.expected
    assert torch.equal(Program(result.program).run((x,))[0], expected)
    assert result.sqnr_db > 30
