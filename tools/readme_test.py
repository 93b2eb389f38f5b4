"""What README.md shows works as it stands there."""

import re
from pathlib import Path

import pytest
import torch

from cortex_m import ModelSource, export_model
from cortex_m.host.interpreter import ReferenceProgram


def block(words: str) -> str:
    """The Python block of README.md that contains `words`."""
    blocks = re.findall(r"```python\n(.*?)```", Path("README.md").read_text(), re.DOTALL)
    (found,) = [text for text in blocks if words in text]
    return found


def test_the_example_network_exports_and_runs_here(tmp_path, monkeypatch):
    names: dict = {}
    exec(block("def model():"), names)
    source = names["model"]()
    assert isinstance(source, ModelSource)
    result = export_model(source, strict=True)
    assert result.sqnr_db > 20
    text = block("cortex_m.host import Program")
    (tmp_path / "net.pte").write_bytes(result.program)
    monkeypatch.chdir(tmp_path)
    names = {"images": torch.stack([*result.inputs, torch.zeros_like(result.inputs[0])])}
    exec(text, names)
    assert torch.equal(names["scores"][0], result.expected[0]) and len(names["scores"]) == 2


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_the_recipe_with_executorchs_names_runs_verbatim(memory_format):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Dropout(),
        torch.nn.Conv2d(8, 4, 1),
    ).eval()
    example_inputs = (torch.randn(1, 3, 8, 8).to(memory_format=memory_format),)
    names = {"model": model, "example_inputs": example_inputs}
    exec(block("to_edge_transform_and_lower"), names)
    (output,) = ReferenceProgram(bytes(names["et_program"].buffer)).run(example_inputs)
    floating = model(*example_inputs)
    noise = (output - floating).square().sum()
    assert output.shape == floating.shape
    assert 10 * torch.log10(floating.square().sum() / noise) > 25
