"""The wheel in a virtual environment of its own: the seed system's recipe, with nothing from the source tree."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tools import wheel as packing

(WHEEL,) = Path().glob("cortex_m-*-py3-none-linux_x86_64.whl")

RECIPE = """
import pathlib, sys
import torch
from executorch.exir import to_edge
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import cortex_m
from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.library.cmsis_nn import Backend, DataType, avgpool_buffer_size
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.target_config import CortexM, CortexMTargetConfig

assert pathlib.Path(cortex_m.__file__).is_relative_to(sys.prefix), cortex_m.__file__
assert avgpool_buffer_size(Backend.DSP, DataType.A8W8, dim_dst_width=1, ch_src=4) >= 0

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 4)).eval()
inputs = (torch.randn(1, 3, 8, 8),)
prepared = prepare_pt2e(export(model, inputs).module(), CortexMQuantizer())
prepared(*inputs)
quantized = export(convert_pt2e(prepared), inputs)
edge = to_edge(quantized, compile_config=cortex_m_edge_compile_config())
target = CortexMTargetConfig(CortexM.M55)
edge._edge_programs["forward"] = CortexMPassManager(edge.exported_program(), target_config=target, strict=True).transform()
program = bytes(edge.to_executorch().buffer)

from cortex_m.host.interpreter import ReferenceProgram
(predicted,) = ReferenceProgram(program).run(inputs)
from cortex_m.host import Program
assert torch.equal(Program(program).run(inputs)[0], predicted)
assert (predicted - model(*inputs)).abs().max() < 0.1
outside = [
    name for name, module in sys.modules.items()
    if name.split(".")[0] == "cortex_m" and getattr(module, "__file__", None)
    and not pathlib.Path(module.__file__).is_relative_to(sys.prefix)
]
assert not outside, outside
import cortex_m.quantizer_reporter, cortex_m.test.tester, cortex_m.test.pytest_plugin
print("program of", len(program), "bytes")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The interpreter of a fresh environment with the wheel; the packages it requires are those of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    options = ["--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, *options, str(WHEEL.resolve())], check=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


def test_the_recipe_runs_from_the_wheel_alone(python, tmp_path):
    script = tmp_path / "recipe.py"
    script.write_text(RECIPE)
    done = subprocess.run(
        [python, "-I", script], cwd=tmp_path, env={}, capture_output=True, check=False, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("program of ")


def test_metadata():
    with zipfile.ZipFile(WHEEL) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
        names = set(archive.namelist())
    assert metadata["Name"] == "cortex-m" and WHEEL.name.startswith(f"cortex_m-{metadata['Version']}-")
    required = metadata.get_all("Requires-Dist")
    assert "torch==2.13.0" in required and "executorch==1.5.1" in required and len(required) == len(packing.IMPORTED)
    for path in ("cores.bzl", "ops/operators.yaml", "nn/libcortex_m_nn.so", "quantizer/patterns/windows.py"):
        assert f"cortex_m/{path}" in names
    assert not [name for name in names if name.endswith(("_test.py", "BUILD.bazel"))]


def test_the_same_files_give_the_same_bytes(tmp_path):
    contents = []
    for number in range(2):
        folder = tmp_path / str(number) / "cortex_m"
        (folder / "part").mkdir(parents=True, mode=0o700 + number * 0o55)
        files = [folder / "part" / "data.bin", folder / "__init__.py", folder / "part" / "code.py"]
        for file in files[:: 1 - 2 * number]:
            file.write_text(file.name)
        wheel = tmp_path / str(number) / "cortex_m-1.2-py3-none-linux_x86_64.whl"
        packing.build(wheel, map(str, files), "1.2", ["numpy"], "text")
        contents.append(wheel.read_bytes())
    assert contents[0] == contents[1]


def test_what_does_not_belong_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not in the package"):
        packing.placed(["tools/wheel.py"])
    with pytest.raises(ValueError, match="the same place"):
        packing.placed(["cortex_m/a.py", "bazel-out/bin/cortex_m/a.py"])
