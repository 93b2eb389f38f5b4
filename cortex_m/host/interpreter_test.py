"""Programs made by exir without any of our passes, so that PyTorch itself says what they must compute."""

import pytest
import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn
from torch.export import export

import cortex_m.ops.operators  # noqa: F401
from cortex_m.host import interpreter
from cortex_m.host.interpreter import ProgramError, ReferenceProgram


def program(module, *inputs):
    return bytes(to_edge(export(module.eval(), inputs)).to_executorch().buffer)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 4)
        self.register_buffer("table", torch.arange(4.0))

    def forward(self, x):
        y = torch.relu(self.linear(x)) + self.table
        return y.reshape(-1, 2), torch.cat([y, x], dim=1), y.sum(dim=1)


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    module, x = Net(), torch.randn(3, 6)
    return module, x, program(module, x)


def test_outputs_are_those_of_pytorch(net):
    module, x, data = net
    for got, want in zip(ReferenceProgram(data).run((x,)), module(x), strict=True):
        torch.testing.assert_close(got, want)


def test_a_program_runs_again_with_other_inputs(net):
    module, x, data = net
    loaded = ReferenceProgram(data)
    first = loaded.run((x,))
    for got, want in zip(loaded.run((2 * x - 1,)), module(2 * x - 1), strict=True):
        torch.testing.assert_close(got, want)
    torch.testing.assert_close(first[0], module(x)[0])


def test_callback_sees_each_call_with_its_outputs(net):
    module, x, data = net
    calls = []
    loaded = ReferenceProgram(data)
    loaded.run((x,), callback=lambda call: calls.append((call.index, call.op, [o.clone() for o in call.outputs])))
    assert [op for _, op, _ in calls] == loaded.instruction_names()
    relu = next(outputs[0] for _, op, outputs in calls if op.startswith("aten::relu"))
    torch.testing.assert_close(relu, torch.relu(module.linear(x)))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 2


def test_mutable_buffers_keep_their_values_from_run_to_run():
    loaded = ReferenceProgram(program(Counter(), torch.ones(2)))
    outputs = [loaded.run((torch.tensor([1.0, 3.0]),))[0].tolist() for _ in range(3)]
    assert outputs == [[2.0, 6.0], [4.0, 12.0], [6.0, 18.0]]


def test_reset_brings_initial_values_back():
    edge = to_edge(export(Counter(), (torch.ones(2),)))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["count"])])
    loaded = ReferenceProgram(bytes(edge.to_executorch(config).buffer))
    one, again = torch.tensor([1.0, 3.0]), torch.tensor([[2.0, 6.0], [4.0, 12.0]]).tolist()
    for _ in range(2):
        assert [loaded.run((one,))[0].tolist() for _ in range(2)] == again
        loaded.reset()


class Parts(nn.Module):
    def forward(self, x):
        return torch.split(x, [1, 2], 1)


def test_tensors_of_a_list_are_outputs_and_poisoned_before_the_call(monkeypatch):
    x, calls = torch.randn(2, 3), []
    loaded = ReferenceProgram(program(Parts(), x))
    poisoned: list[torch.Tensor] = []
    monkeypatch.setattr(interpreter, "_poison", poisoned.append)
    loaded.run((x,), calls.append)
    assert [tuple(output.shape) for output in calls[0].outputs] == [(2, 1), (2, 2)]
    assert all(any(output is value for value in poisoned) for output in calls[0].outputs)


class Branches(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v * 3, (x,))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_control_flow(sign):
    loaded = ReferenceProgram(program(Branches(), torch.ones(3)))
    x = torch.full((3,), sign)
    torch.testing.assert_close(loaded.run((x,))[0], Branches()(x))


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_outputs_come_in_the_programs_memory_order(memory_format):
    module = nn.Conv2d(2, 3, 3)
    x = torch.randn(1, 2, 5, 6).to(memory_format=memory_format)
    want = module.to(memory_format=memory_format)(x)
    got = ReferenceProgram(program(module, x)).run((x,))[0]
    torch.testing.assert_close(got, want)
    assert got.stride() == want.stride()


class Transposed(nn.Module):
    def forward(self, x):
        args = (0.1, 3, -128, 127, torch.int8)
        q = torch.ops.cortex_m.quantize_per_tensor(x, *args)
        return torch.ops.cortex_m.dequantize_per_tensor(torch.ops.cortex_m.transpose(q, [1, 0]), *args)


def test_a_plan_that_overlaps_live_tensors_is_refused():
    """With every tensor moved to the start of the arena, a call would destroy the input that it still reads."""
    x = torch.randn(3, 4)
    config = EdgeCompileConfig(_check_ir_validity=False)
    data = bytes(to_edge(export(Transposed(), (x,)), compile_config=config).to_executorch().buffer)
    loaded = ReferenceProgram(data)
    torch.testing.assert_close(loaded.run((x,))[0], x.t(), atol=0.051, rtol=0)
    for value in loaded._plan.values:
        if getattr(value.val, "allocation_info", None) is not None:
            value.val.allocation_info.memory_offset_low = 0
    loaded._initial = [loaded._value(value.val) for value in loaded._plan.values]
    with pytest.raises(ProgramError, match="quantize_per_tensor.out writes its result over its argument input"):
        loaded.run((x,))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), "takes 1 inputs, not 0"),
        ((torch.zeros(3, 5),), r"must be torch.float32 \(3, 6\)"),
        ((torch.zeros(3, 6, dtype=torch.int8),), "not torch.int8"),
    ],
)
def test_wrong_inputs_are_refused(net, inputs, message):
    with pytest.raises(ProgramError, match=message):
        ReferenceProgram(net[2]).run(inputs)


def test_unknown_methods_are_refused(net):
    with pytest.raises(ProgramError, match="no method 'backward', only \\['forward'\\]"):
        ReferenceProgram(net[2], method="backward")
