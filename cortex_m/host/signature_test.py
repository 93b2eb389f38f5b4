"""Programs by exir's own exporter, whose ends are known from the module."""

import pytest
import torch
from executorch.exir import to_edge
from torch import nn
from torch.export import export

from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.host.signature import SignatureError, TensorSpec, read_signature


class Net(nn.Module):
    def forward(self, x, n):
        return x.relu(), x.flatten(1).to(torch.int32), n


@pytest.fixture(scope="module")
def program():
    x = torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return bytes(to_edge(export(Net(), (x, 7))).to_executorch().buffer)


def test_ends(program):
    signature = read_signature(program)
    assert signature.name == "forward"
    assert signature.inputs[0] == TensorSpec((1, 2, 3, 4), torch.float32, (0, 2, 3, 1))
    assert signature.inputs[1].kind is int
    assert signature.outputs[1] == TensorSpec((1, 24), torch.int32, (0, 1))
    assert list(signature.arena_sizes) == ReferenceProgram(program).arena_sizes[1:]


def test_tensors_go_and_come_in_the_programs_order(program):
    image = torch.arange(24.0).reshape(1, 2, 3, 4)
    spec = read_signature(program).inputs[0]
    data = spec.to_bytes(image)
    assert data == image.permute(0, 2, 3, 1).contiguous().numpy().tobytes()
    back = spec.from_bytes(data)
    assert torch.equal(back, image) and back.is_contiguous(memory_format=torch.channels_last)


def test_numbers(program):
    spec = read_signature(program).inputs[1]
    assert spec.to_bytes(-2) == b"\xfe" + b"\xff" * 7
    assert spec.from_bytes(spec.to_bytes(-2)) == -2


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_few_or_no_elements(shape):
    spec = TensorSpec(shape, torch.int16, tuple(range(len(shape))))
    tensor = torch.full(shape, -3, dtype=torch.int16)
    assert torch.equal(spec.from_bytes(spec.to_bytes(tensor)), tensor)


def test_other_tensors_are_refused(program):
    spec = read_signature(program).inputs[0]
    with pytest.raises(SignatureError, match=r"takes torch.float32 \(1, 2, 3, 4\), not torch.float32 \(1, 3, 4, 2\)"):
        spec.to_bytes(torch.zeros(1, 3, 4, 2))
    with pytest.raises(SignatureError, match="not torch.int8"):
        spec.to_bytes(torch.zeros(1, 2, 3, 4, dtype=torch.int8))
    with pytest.raises(SignatureError, match="95 bytes are not those"):
        spec.from_bytes(bytes(95))


def test_what_is_no_program_is_refused(program):
    with pytest.raises(SignatureError, match="no .pte"):
        read_signature(b"text")
    with pytest.raises(SignatureError, match="damaged"):
        read_signature(program[:40])
    with pytest.raises(SignatureError, match="no method 1"):
        read_signature(program, method=1)
