"""Damaged programs on the universal runner: never a fault, and the same verdict on every core.

A small quantized network is exported. With its seal, every truncated program and every one with a flipped bit is refused.
Without it, the verifier and the operators are on their own: the program is damaged at random places by flipped bits, by
bytes at the ends of their range and by words that are plausible as offsets and sizes, and is refused with a sentence or,
where it still is a program, run. All of them run in one start of each
simulator; a fault or a hang would end it with an error. The host runs them too, as a runner and as `cortex_m.host.Program`: its
verdict on a file, and the outputs of what it still accepts, must be the device's.
"""

import random
import re
import struct
import subprocess
from pathlib import Path

import pytest
import torch

from cortex_m import simulator
from cortex_m.export import ModelSource, export_model
from cortex_m.host import Program
from cortex_m.host.tensor_bytes import tensor_to_bytes
from cortex_m.seal import unsealed

_FOLDER = Path("cortex_m/runner").resolve()
_CORES = {"cortex_m55": "mps3_an547", "cortex_m4": "mps2_an386"}
_FLIPPED = 1000
_DAMAGED = 1000


class Net(torch.nn.Module):
    """One of each layer that MobileNetV2 has."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.depthwise = torch.nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = torch.nn.Conv2d(8, 8, 1)
        self.classifier = torch.nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = self.pointwise(torch.relu(self.depthwise(x))) + x
        return torch.softmax(self.classifier(x.mean((2, 3))), 1)


def _flip(program: bytes, bit: int) -> bytes:
    damaged = bytearray(program)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def _damage(program: bytes, generator: random.Random) -> bytes:
    damaged = bytearray(program)
    for _ in range(generator.choice([1, 1, 1, 2, 4, 16])):
        position = generator.randrange(len(damaged))
        kind = generator.randrange(4)
        if kind < 2:
            damaged[position] ^= 1 << generator.randrange(8)
        elif kind == 2:
            damaged[position] = generator.choice([0, 1, 127, 128, 255])
        else:
            word = generator.choice([0, 1, -1, -128, 2**31 - 1, -(2**31), len(program), 65536])
            struct.pack_into("<i", damaged, position & ~3, word)
    return bytes(damaged)


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """Folder with the programs; how many at the begin must be refused; how many there are. The last one is intact."""
    folder = tmp_path_factory.mktemp("batch")
    torch.manual_seed(0)
    exported = export_model(ModelSource(Net(), (torch.randn(1, 3, 8, 8),)))
    sealed, program = exported.program, unsealed(exported.program)
    generator = random.Random(20261130)
    programs = [program[:length] for length in range(0, len(program), 61)]
    programs += [sealed[:length] for length in [*range(30, len(sealed), 997), *range(len(program) + 1, len(sealed))]]
    programs += [_flip(sealed, generator.randrange(8 * len(sealed))) for _ in range(_FLIPPED)]
    programs += [
        _flip(sealed, bit) for bit in range(8 * len(program), 8 * len(sealed))
    ]  # the seal itself, its target too
    refused = len(programs)
    programs += [_damage(program, generator) for _ in range(_DAMAGED)] + [program, sealed]
    for number, content in enumerate(programs):
        (folder / f"{number}.pte").write_bytes(content)
    (folder / "x.bin").write_bytes(tensor_to_bytes(exported.inputs[0]))
    (folder / "expected.bin").write_bytes(tensor_to_bytes(exported.expected[0]))
    return folder, refused, len(programs)


@pytest.fixture(scope="module")
def results(batch):
    """For the host and each core: the verdict on each program, without what is measured, and its output or None."""
    folder, _, count = batch
    found = {}
    for core in ["host", *_CORES]:
        lines = [f"{number}.pte x.bin {core}_{number}\n" for number in range(count)]
        (folder / "list.txt").write_text("".join(lines))
        if core == "host":
            command = [_FOLDER / "universal_int8", "--batch", "list.txt"]
            stdout = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout
        else:
            elf = _FOLDER / f"universal_int8_{core}.elf"
            stdout = simulator.run(_CORES[core], elf, ["--batch", "list.txt"], cwd=folder, timeout=400).stdout
        verdicts = re.findall(r"^result \d+: (.*)$", stdout, re.MULTILINE)
        verdicts = ["ok" if verdict.startswith("ok, ") else verdict for verdict in verdicts]
        paths = [folder / f"{core}_{number}-0.bin" for number in range(count)]
        found[core] = verdicts, [path.read_bytes() if path.exists() else None for path in paths]
    return found


@pytest.fixture(scope="module")
def python_results(batch):
    """The same of `cortex_m.host.Program`: "ok" or the exception's sentence, and the output's bytes or None."""
    folder, _, count = batch
    image = (folder / "x.bin").read_bytes()
    found = []
    for number in range(count):
        try:
            program = Program((folder / f"{number}.pte").read_bytes())
            (value,) = program.run([spec.from_bytes(image) for spec in program.inputs])
            found.append(("ok", tensor_to_bytes(value)))
        except ValueError as error:  # ProgramError, and SignatureError where the image is none for it any more
            found.append((f"error: {error}", None))
    return found


def test_python_judges_and_computes_as_the_host_does(results, python_results):
    """Its kernels are all there are, so that a damaged name may be that of one for floats; else as strict."""
    for (verdict, output), host_verdict, host_output in zip(python_results, *results["host"], strict=True):
        assert (verdict == "ok") == (host_verdict == "ok"), (verdict, host_verdict)
        assert output == host_output


@pytest.mark.parametrize("core", ["host", *_CORES])
def test_every_program_gets_a_verdict(batch, results, core):
    _, _, count = batch
    verdicts, _ = results[core]
    assert len(verdicts) == count
    assert all(verdict == "ok" or verdict.startswith("error: ") for verdict in verdicts)


@pytest.mark.parametrize("core", ["host", *_CORES])
def test_truncated_and_sealed_programs_are_refused_every_time(batch, results, core):
    _, refused, _ = batch
    assert all(verdict.startswith("error: ") for verdict in results[core][0][:refused])


@pytest.mark.parametrize("core", ["host", *_CORES])
def test_the_intact_program_still_runs_at_the_end(batch, results, core):
    """With and without its seal."""
    folder, _, _ = batch
    verdicts, outputs = results[core]
    assert verdicts[-2:] == ["ok", "ok"]
    assert outputs[-2:] == [(folder / "expected.bin").read_bytes()] * 2


def test_the_damage_reaches_verifier_and_operators(results):
    """A test that only ever sees one kind of refusal would prove little."""
    verdicts, _ = results["host"]
    assert len({re.sub(r" \(.*", "", verdict) for verdict in verdicts}) > 25
    assert verdicts.count("ok") > 50


@pytest.mark.parametrize("core", _CORES)
def test_the_device_judges_as_the_host_does(results, core):
    assert results[core][0] == results["host"][0]


@pytest.mark.parametrize("core", _CORES)
def test_the_device_computes_what_the_host_computes(results, core):
    differing = [i for i, (a, b) in enumerate(zip(results[core][1], results["host"][1])) if a != b]
    assert not differing
