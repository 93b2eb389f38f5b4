"""Models and samples from files give what the same objects in memory give; bad files are refused in a sentence."""

import numpy as np
import pytest
import torch
from torch import nn

from cortex_m.export import ModelError, ModelSource, export_model
from cortex_m.passes.cortex_m_pass_manager import LoweringError
from cortex_m.saved_model import load_pt2, read_samples, with_calibration

_SAMPLES = torch.randn(6, 2, 8, 8, generator=torch.Generator().manual_seed(1))


class Net(nn.Module):
    """In training, dropout and batch norm would compute something else."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(
            nn.functional.dropout(torch.relu(self.norm(self.conv(x))).mean((2, 3)), training=self.training)
        )


class Total(Net):
    def forward(self, x):
        return torch.cumsum(super().forward(x), 1)


def build(kind=Net):
    torch.manual_seed(0)
    return kind()


def save(path, module, *inputs, **keywords):
    torch.export.save(torch.export.export(module, inputs, keywords), path)
    return path


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_pt2_gives_the_modules_program(tmp_path, mode):
    samples = [(sample[None],) for sample in _SAMPLES]
    module = build().train(mode == "train")
    path = save(tmp_path / "net.pt2", module, _SAMPLES[:1])
    np.save(tmp_path / "samples.npy", _SAMPLES.numpy())
    direct = export_model(ModelSource(build(), samples[0], samples), strict=True)
    saved = export_model(load_pt2(path, tmp_path / "samples.npy"), strict=True)
    if mode == "eval":
        assert saved.program == direct.program
    for got, want in zip(saved.float_outputs, direct.float_outputs, strict=True):
        torch.testing.assert_close(got, want)
    assert saved.sqnr_db > 25


def test_strict_errors_of_a_pt2_name_the_source_line(tmp_path):
    source = load_pt2(save(tmp_path / "net.pt2", build(Total).eval(), _SAMPLES[:1]))
    with pytest.raises(
        LoweringError, match=r"saved_model_test.py:\d+, in forward.*: aten::cumsum: cumsum \(aten.*no int8"
    ) as error:
        export_model(source, strict=True)
    assert str(error.value).endswith('allow_fallback = ["aten::cumsum"]') and error.value.report.instructions
    allowed = export_model(source, strict=True, allow_fallback=["aten::cumsum"])
    (refusal,) = allowed.lowering_report.refusals
    assert refusal.allowed and "cumsum" in refusal.op and "aten.cumsum.default, allowed" in str(allowed.lowering_report)


def test_what_is_allowed_must_be_needed(tmp_path):
    source = ModelSource(build(Total), (_SAMPLES[:1],))
    with pytest.raises(LoweringError, match="aten::sort, and no such op stayed outside cortex_m: leave it out"):
        export_model(source, strict=True, allow_fallback=["aten::cumsum", "aten::sort"])
    with pytest.raises(LoweringError, match="strict lowering found ops"):
        export_model(source, strict=True, allow_fallback=["aten::sort"])
    with pytest.raises(ValueError, match="'cumsum' is no name of an operator; write it like aten::cumsum"):
        export_model(source, strict=True, allow_fallback=["cumsum"])
    with pytest.raises(ValueError, match="allow_fallback says what strict=True permits"):
        export_model(source, allow_fallback=["aten::cumsum"])


def test_samples_have_a_dimension_in_front_or_more_of_the_first(tmp_path):
    path = tmp_path / "samples.npy"
    example = (torch.zeros(2, 3),)
    for array in (np.arange(24, dtype=np.float32).reshape(4, 2, 3), np.arange(24, dtype=np.float32).reshape(8, 3)):
        np.save(path, array)
        samples = read_samples(path, example)
        assert [tuple(value.shape for value in sample) for sample in samples] == [((2, 3),)] * 4
        assert torch.equal(torch.stack([value for (value,) in samples]), torch.arange(24.0).reshape(4, 2, 3))
    np.savez(tmp_path / "two.npz", np.zeros((5, 2, 3), np.float32), np.ones((5, 7), np.int64))
    samples = read_samples(tmp_path / "two.npz", (torch.zeros(2, 3), torch.zeros(7, dtype=torch.int64)))
    assert len(samples) == 5 and samples[4][1].tolist() == [1] * 7


BAD_SAMPLES = {
    "is torch.float64, and the input is torch.float32": np.zeros((4, 2, 8, 8)),
    r"array 0 has shape \(4, 2, 8, 9\): samples for an input \(1, 2, 8, 8\) are \('N', 1, 2, 8, 8\)": np.zeros(
        (4, 2, 8, 9), np.float32
    ),
    r"has shape \(0, 2, 8, 8\)": np.zeros((0, 2, 8, 8), np.float32),
    r"has shape \(\)": np.float32(1),
    "is <U4, which torch does not have": np.array(["text"]),
    "is no .npy or .npz of numbers": np.array([{}], dtype=object),
}


@pytest.mark.parametrize("message", BAD_SAMPLES)
def test_samples_that_are_not_the_models(tmp_path, message):
    np.save(tmp_path / "bad.npy", BAD_SAMPLES[message])
    with pytest.raises(ModelError, match=f"bad.npy.*{message}"):
        read_samples(tmp_path / "bad.npy", (torch.zeros(1, 2, 8, 8),))


def test_sample_files_that_are_none(tmp_path):
    example = (torch.zeros(2), torch.zeros(2))
    np.savez(tmp_path / "named.npz", x=np.zeros((3, 2), np.float32), y=np.zeros((3, 2), np.float32))
    np.savez(tmp_path / "uneven.npz", np.zeros((3, 2), np.float32), np.zeros((4, 2), np.float32))
    np.save(tmp_path / "one.npy", np.zeros((3, 2), np.float32))
    (tmp_path / "text.npy").write_text("text")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "named.npz").read_bytes()[:90])
    (tmp_path / "empty.npy").write_bytes(b"")
    for name, message in [
        ("named.npz", "write it with np.savez"),
        ("uneven.npz", r"different numbers of samples for the inputs: \[3, 4\]"),
        ("one.npy", "has 1 arrays, and the model takes 2 inputs"),
        ("text.npy", "is no .npy or .npz"),
        ("cut.npz", "is no .npy or .npz"),
        ("empty.npy", "is no .npy or .npz"),
    ]:
        with pytest.raises(ModelError, match=f"{name}.*{message}"):
            read_samples(tmp_path / name, example)
    with pytest.raises(FileNotFoundError, match="there is no file .*none.npy"):
        read_samples(tmp_path / "none.npy", example)
    source = ModelSource(build(), (_SAMPLES[:1],), calibration=[(_SAMPLES[:1],)])
    with pytest.raises(ModelError, match="brings 1 calibration samples of its own"):
        with_calibration(source, tmp_path / "one.npy")


class Keyword(nn.Module):
    def forward(self, x, *, y):
        return x + y


def test_files_that_are_no_pt2(tmp_path):
    whole = save(tmp_path / "net.pt2", build().eval(), _SAMPLES[:1]).read_bytes()
    np.savez(tmp_path / "other.pt2.npz", np.zeros(3))
    save(tmp_path / "keyword.pt2", Keyword(), torch.zeros(2), y=torch.zeros(2))
    for name, data, message in [
        ("cut.pt2", whole[: len(whole) // 2], "is no .pt2"),
        ("empty.pt2", b"", "is no .pt2"),
        ("text.pt2", b"net", "is no .pt2"),
        ("other.pt2", (tmp_path / "other.pt2.npz").read_bytes(), "cannot be loaded by torch.export.load"),
    ]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelError, match=f"{name} {message}"):
            load_pt2(tmp_path / name)
    with pytest.raises(ModelError, match=r"takes keyword arguments \['y'\]"):
        load_pt2(tmp_path / "keyword.pt2")
    with pytest.raises(FileNotFoundError, match="none.pt2"):
        load_pt2(tmp_path / "none.pt2")
