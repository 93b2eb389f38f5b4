"""The device's C++ on this machine, from Python: against PyTorch, the reference in Python, and the op suite's bytes."""

import gc
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn
from torch.export import export

from cortex_m.export import ModelSource, export_model
from cortex_m.host import Program, ProgramError, ReferenceProgram, SignatureError
from cortex_m.host.program import kernels
from cortex_m.host.specs import NumberSpec, TensorSpec
from cortex_m.host.tensor_bytes import tensor_to_bytes
from cortex_m.seal import seal, unsealed
from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig
from cortex_m.test.batch import RawResult
from cortex_m.test.suite.archive import Archive

_ARCHIVE = Archive(Path("cortex_m/test/suite/cases.zip"))
# The host runs what a program for another core would be refused for: it stands for any core.
_CALLS = [*_ARCHIVE.jobs("HOST"), *(job for job in _ARCHIVE.jobs("MVE") if job.kind != "refusal")]


def program(module, *inputs):
    return bytes(to_edge(export(module.eval(), inputs)).to_executorch().buffer)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, groups=8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.depthwise(torch.relu(self.conv(x))))
        return torch.softmax(self.head(x.mean((2, 3))), 1), x.amax((2, 3))


@pytest.fixture(scope="module")
def exported():
    torch.manual_seed(0)
    samples = [(torch.randn(1, 3, 9, 9),) for _ in range(4)]
    return export_model(ModelSource(Net(), samples[0], samples), CortexMTargetConfig(CortexM.M55))


def test_a_model_gives_the_predicted_bytes(exported):
    """Also one that was exported for a core with Helium."""
    loaded = Program(exported.program)
    assert loaded.target == CortexMTargetConfig(CortexM.M55)
    assert loaded.inputs == (TensorSpec((1, 3, 9, 9), torch.float32, (0, 1, 2, 3)),)
    for got, want in zip(loaded.run(exported.inputs), exported.expected, strict=True):
        assert torch.equal(got, want) and got.dtype == want.dtype


@pytest.mark.parametrize(
    "target",
    [CortexMTargetConfig.any(), CortexMTargetConfig(CortexM.M0PLUS), CortexMTargetConfig(CortexM.M55, Backend.SCALAR)],
    ids=str,
)
def test_the_target_is_what_the_seal_says(exported, target):
    data = unsealed(exported.program)
    assert Program(seal(data, target)).target == target
    assert Program(data).target is None


def test_the_seal_is_part_of_the_file(exported):
    assert Program(exported.program).info["file_bytes"] == len(exported.program)
    plain = unsealed(exported.program)
    assert Program(plain).info["file_bytes"] == len(plain) == len(exported.program) - 32


def test_a_trace_has_each_tensor_that_a_call_computes(exported):
    x, seen = torch.randn(1, 3, 9, 9), []
    outputs, written = Program(exported.program).trace((x,))
    ReferenceProgram(exported.program).run(
        (x,), lambda call: seen.extend((call.index, tensor_to_bytes(output)) for output in call.outputs)
    )
    assert written == seen and len(written) > 2
    for got, want in zip(outputs, Program(exported.program).run((x,)), strict=True):
        assert torch.equal(got, want)


def test_a_batch_gives_what_single_calls_give(exported):
    loaded, reference = Program(exported.program), ReferenceProgram(exported.program)
    images = torch.randn(7, 1, 3, 9, 9)
    batch = loaded.run_batch((images.numpy(),))
    for number, image in enumerate(images):
        single = loaded.run((image,))
        for got, one, want in zip(batch, single, reference.run((image,)), strict=True):
            assert torch.equal(got[number], want) and torch.equal(one, want)
    assert [len(output) for output in loaded.run_batch((images[:0],))] == [0, 0]


def test_a_path_and_bytes_are_the_same_program(exported, tmp_path):
    path = tmp_path / "net.pte"
    path.write_bytes(exported.program)
    assert Program(path).info == Program(str(path)).info == Program(exported.program).info
    assert set(Program(path).operators) <= set(kernels())
    with pytest.raises(FileNotFoundError, match="none.pte"):
        Program(tmp_path / "none.pte")


@pytest.mark.parametrize("op", _ARCHIVE.operators)
def test_each_operator_of_the_suite(op):
    """Its calls and refusals, the calls with the scratch buffers of a core with Helium, too: right bytes, and no other byte changed."""
    wrong = []
    for job in (job for job in _CALLS if job.op == op):
        loaded = Program(job.program)
        try:
            outputs = loaded.run([spec.from_bytes(data) for spec, data in zip(loaded.inputs, job.inputs, strict=True)])
            result = RawResult(tuple(spec.to_bytes(value) for spec, value in zip(loaded.outputs, outputs)))
        except ProgramError as error:
            result = RawResult(error=str(error))
        if difference := job.difference(result):
            wrong.append(f"{job.name}: {difference}")
    assert wrong == []


class Floats(nn.Module):
    def forward(self, x, n):
        return torch.softmax(x @ x.transpose(1, 2), -1), x.amax(2).to(torch.int64).flip(0), torch.where(x > n, x, -x)


def test_kernels_for_floats_are_there():
    x = torch.randn(2, 3, 4)
    for got, want in zip(Program(program(Floats(), x, 1)).run((x.numpy(), 1)), Floats()(x, 1), strict=True):
        torch.testing.assert_close(got, want)


class Numbers(nn.Module):
    def forward(self, x, n, r, b):
        return x + 1, n, r, b


def test_numbers_are_inputs_and_outputs():
    """The exporter takes numbers as constants; the program is right for those alone."""
    given = (-(2**40), 1e-300, True)
    loaded = Program(program(Numbers(), torch.zeros(2), *given))
    assert loaded.inputs[1:] == loaded.outputs[1:] == (NumberSpec(int), NumberSpec(float), NumberSpec(bool))
    got = loaded.run((torch.ones(2), *given))
    assert got[0].tolist() == [2, 2] and got[1:] == list(given)
    assert [type(value) for value in got[1:]] == [int, float, bool]
    batch = loaded.run_batch((torch.zeros(2, 2), *([number] * 2 for number in given)))
    assert [values.tolist() for values in batch[1:]] == [[number] * 2 for number in given]
    with pytest.raises(SignatureError, match=r"different numbers of samples: \[1, 2\]"):
        loaded.run_batch((torch.zeros(2, 2), *([number] for number in given)))
    for position, other in enumerate([3, 0.5, False]):
        with pytest.raises(ProgramError, match=rf"exported for another number \(input {position + 1}\)"):
            loaded.run((torch.ones(2), *given[:position], other, *given[position + 1 :]))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 2


def test_mutable_buffers_keep_their_values_and_programs_are_independent():
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["count"])])
    data = bytes(to_edge(export(Counter(), (torch.ones(2),))).to_executorch(config).buffer)
    first, second = Program(data), Program(data)
    x = torch.tensor([1.0, 3.0])
    assert [first.run((x,))[0].tolist() for _ in range(2)] == [[2.0, 6.0], [4.0, 12.0]]
    assert first.run_batch((torch.stack([x, x]),))[0].tolist() == [[6.0, 18.0], [8.0, 24.0]]
    assert second.run((x,))[0].tolist() == [2.0, 6.0]


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_tensors_come_and_go_in_any_memory_order(memory_format):
    module = nn.Conv2d(2, 3, 3)
    x = torch.randn(1, 2, 5, 6).to(memory_format=memory_format)
    loaded = Program(program(module.to(memory_format=memory_format), x))
    want = module(x)
    for given in (x, x.contiguous(), x.to(memory_format=torch.channels_last), x.numpy(), x.flip(3).numpy()[..., ::-1]):
        (got,) = loaded.run((given,))
        torch.testing.assert_close(got, want)
        assert got.stride() == want.stride()


def test_two_methods():
    x = torch.ones(2)
    methods = {name: export(module, (x,)) for name, module in (("relu", nn.ReLU()), ("tanh", nn.Tanh()))}
    data = bytes(to_edge(methods).to_executorch().buffer)
    assert {Program(data, name).name for name in methods} == set(methods)
    torch.testing.assert_close(Program(data, "tanh").run((x,))[0], x.tanh())
    with pytest.raises(ProgramError, match="method.*backward"):
        Program(data, "backward")


def test_inputs_that_are_not_the_programs(exported):
    loaded = Program(exported.program)
    x = torch.zeros(1, 3, 9, 9)
    for inputs, message in [
        ((), "takes 1 inputs, not 0"),
        ((x, x), "takes 1 inputs, not 2"),
        ((x[0],), r"input 0 is torch.float32 \(1, 3, 9, 9\), not torch.float32 \(3, 9, 9\)"),
        ((x.to(torch.int8),), "not torch.int8"),
        ((x.double().numpy(),), "not torch.float64"),
        ((np.float32(1),), r"not torch.float32 \(\)"),
    ]:
        with pytest.raises(SignatureError, match=message):
            loaded.run(inputs)
    with pytest.raises(SignatureError, match=r"\(1, 3, 9, 9\), not torch.float32 \(3, 9, 9\)"):
        loaded.run_batch((x,))


class Unknown(nn.Module):
    def forward(self, x):
        return torch.linalg.det(x)


@pytest.mark.parametrize(("damage", "message"), [
    (lambda sealed: sealed[:-1] + bytes([sealed[-1] ^ 1]), "checksum"),
    (lambda sealed: sealed[:100], "truncated|outside|the file"),
    (lambda sealed: b"", "file"),
    (lambda sealed: b"text" * 20, "file|program"),
    (lambda sealed: unsealed(sealed).replace(b"quantized_linear", b"quantized_lineaX"), "quantized_lineaX"),
])  # fmt: skip
def test_bad_files_are_refused_with_a_sentence(exported, damage, message, tmp_path):
    data = damage(exported.program)
    with pytest.raises(ProgramError, match=message):
        Program(data)
    (tmp_path / "bad.pte").write_bytes(data)
    with pytest.raises(ProgramError, match="bad.pte: "):
        Program(tmp_path / "bad.pte")


def test_threads_and_many_programs(exported):
    """Calls that wait for each other, and programs that are given back."""
    loaded, x = Program(exported.program), exported.inputs[0]
    images = torch.randn(4, *x.shape)
    want = loaded.run_batch((images,))[0]
    results: list = [None] * 4

    def work(number):
        for _ in range(20):
            results[number] = loaded.run((images[number],))[0]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.equal(torch.stack(results), want)
    for _ in range(200):
        Program(exported.program)
    gc.collect()
    assert torch.equal(loaded.run((images[0],))[0], want[0])
