"""Models that nobody lowers: exported by executorch as they are, and run by the portable kernels on the host and on a board.

The host's outputs are compared with PyTorch's in eager mode, the board's with the host's, to the bit.
"""

import pathlib
import subprocess

import pytest
import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from torch import nn

from cortex_m import simulator
from cortex_m.portable import kernel_library

_RUNNER = pathlib.Path("cortex_m/runner").resolve()


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, 1, 2, dilation=2, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = nn.functional.silu(self.norm(self.down(x)))
        x = x + nn.functional.hardswish(self.depthwise(x))
        x = torch.cat([nn.functional.max_pool2d(x, 2), nn.functional.avg_pool2d(x, 2)], 1)[:, ::2]
        x = nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        x = nn.functional.leaky_relu(self.up(x), 0.2)
        x = nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)
        return nn.functional.log_softmax(self.head(x), 1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.query, self.key, self.value = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.norm = nn.LayerNorm(16)
        self.feed = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, tokens):
        x = self.embed(tokens)
        split = lambda t: t.reshape(2, 6, 4, 4).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-2, -1) * 0.5
        mask = torch.ones(6, 6, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(2, 6, 16)
        return self.feed(self.norm(x + y)).argmax(-1), self.feed(self.norm(x + y))


class Sdpa(nn.Module):
    def forward(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True)
        self.gru = nn.GRU(7, 6, batch_first=True)

    def forward(self, x):
        y, _ = self.gru(self.lstm(x)[0])
        return y


class Audio(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 6, 5, 2, 2)
        self.group = nn.GroupNorm(3, 6)

    def forward(self, x):
        x = nn.functional.pad(x, (3, 2), mode="reflect")
        x = nn.functional.glu(self.group(self.conv(x)), 1)
        return nn.functional.max_pool1d(x, 2), nn.functional.avg_pool1d(x, 3), x.cumsum(-1)


class Shapes(nn.Module):
    def forward(self, x, index):
        a, b = x.split([1, 3], 1)
        c = torch.stack([a.squeeze(1), b[:, 1]], -1).flip(-1).permute(2, 0, 1, 3)
        d = nn.functional.pixel_shuffle(x, 2).roll(1, -1)
        e = nn.functional.pad(x.repeat(1, 1, 2, 1), (1, 1, 0, 2), value=-1.5)
        f = x.index_select(1, index).gather(1, index.reshape(1, -1, 1, 1).expand(1, -1, 5, 4)[:, :2])
        g = x[:, index, 1:, ::2]
        h = nn.functional.interpolate(x, size=(7, 9), mode="bilinear", align_corners=False)
        i = torch.where(x > 0, x, x.exp()).expand(2, -1, -1, -1).clone()
        j = torch.arange(4) * 2 + torch.full((4,), 3)
        k = x.clone()
        k[:, 0] = 7.0
        return c, d, e, f, g, h, i, j, k


class Numbers(nn.Module):
    def forward(self, x, n):
        a = (x.clamp(-1, 1) * 2 + 1).pow(2).sqrt().reciprocal() - x.abs().rsqrt()
        b = (x.sin() + x.cos() + x.tanh().atan() + x.sigmoid().log() + x.erf() + nn.functional.elu(x)).round(decimals=0)
        c = n // 3 + n % 5 - (n & 6) + (n > 2) * 4
        d = torch.div(n, 4) + n.float().mean()
        e = x.sum(1), x.mean((0, 2)), x.amax(-1), x.var(1), x.max(1)[1], (x > 3).any(), n.sum(), x.prod(-1)
        f = torch.topk(x, 2, -1)[0], torch.sort(x, 1)[0], x.min(), torch.logical_or(x > 1, n > 1)
        return a, b, c, d, *e, *f, torch.minimum(x, n), x.neg().floor(), n.bool(), n.to(torch.int8)


def _positive(*sizes):
    return torch.rand(*sizes) + 0.1


def models():
    torch.manual_seed(0)
    numbers = torch.tensor([3, -2, 7, 0, 5])
    return {
        "residual": (Residual(), (torch.randn(2, 3, 16, 16),)),
        "attention": (Attention(), (torch.randint(0, 20, (2, 6)),)),
        "sdpa": (Sdpa(), tuple(torch.randn(1, 2, 5, 4) for _ in range(3))),
        "recurrent": (Recurrent(), (torch.randn(2, 4, 5),)),
        "audio": (Audio(), (torch.randn(1, 2, 20),)),
        "shapes": (Shapes(), (torch.randn(1, 4, 5, 4), torch.tensor([2, 0, 1]))),
        "numbers": (Numbers(), (torch.randn(3, 4, 5), numbers)),
        "channels_last": (
            Residual().to(memory_format=torch.channels_last),
            (torch.randn(1, 3, 16, 16).to(memory_format=torch.channels_last),),
        ),
    }


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    made = {}
    for name, (module, inputs) in models().items():
        module.eval()
        with torch.no_grad():
            expected = module(*inputs)
            program = torch.export.export(module, inputs)
        edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        data = edge.to_executorch(ExecutorchBackendConfig()).buffer
        (folder / f"{name}.pte").write_bytes(data)
        words = [f"{name}.pte"]
        for i, tensor in enumerate(inputs):
            words.append(f"{name}-in{i}.bin")
            (folder / words[-1]).write_bytes(kernel_library.bytes_of(tensor, kernel_library.dim_order_of(tensor)))
        made[name] = (words, [expected] if isinstance(expected, torch.Tensor) else list(expected))
    return folder, made


def _run(exported, platform: str, run) -> dict[str, list[bytes]]:
    """The output files of every program, all run in one start of the universal runner."""
    folder, made = exported
    lines = [" ".join([*words, f"{name}-{platform}"]) for name, (words, _) in made.items()]
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    results = [line for line in run(folder).splitlines() if line.startswith("result ")]
    assert len(results) == len(made)
    for name, result in zip(made, results):
        assert ": ok," in result, f"{name}: {result}"
    return {
        name: [(folder / f"{name}-{platform}-{i}.bin").read_bytes() for i in range(len(expected))]
        for name, (_, expected) in made.items()
    }


def _on_host(folder) -> str:
    command: list[str | pathlib.Path] = [_RUNNER / "universal", "--batch", "list.txt"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def _on_board(folder) -> str:
    elf = _RUNNER / "universal_cortex_m55.elf"
    return simulator.run("mps3_an547", elf, ["--batch", "list.txt"], cwd=folder, timeout=300).stdout


@pytest.fixture(scope="module")
def host_outputs(exported):
    return _run(exported, "host", _on_host)


@pytest.mark.parametrize("name", models())
def test_a_program_gives_what_pytorch_gives(exported, host_outputs, name):
    _, expected = exported[1][name]
    for data, want in zip(host_outputs[name], expected, strict=True):
        got = torch.frombuffer(bytearray(data), dtype=want.dtype).reshape(want.shape)
        if want.is_floating_point():
            torch.testing.assert_close(got, want.contiguous(), rtol=1e-5, atol=2e-6, equal_nan=True)
        else:
            assert torch.equal(got, want)


def test_the_board_gives_the_bits_of_the_host(exported, host_outputs):
    assert _run(exported, "m55", _on_board) == host_outputs
