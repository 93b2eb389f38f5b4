"""The example as a newcomer meets it, short of the inference itself, which :mobilenet_device_test runs; and its program."""

import json
import os
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

from cortex_m.seal import unsealed

PROGRAM = Path("examples/mobilenet_model.pte")
VECTORS = Path("examples/mobilenet_model.vectors")


def example(*flags: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), BUILD_WORKING_DIRECTORY=str(Path.cwd()))
    return subprocess.run(
        [sys.executable, "examples/mobilenet.py", *flags], capture_output=True, check=False, text=True, env=environment
    )


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--image=none.jpg"], "none.jpg: there is no such file"),
        (["--image=examples/mobilenet.py"], "mobilenet.py: not an image that can be read"),
        (["cat.jpg"], "cat.jpg: arguments are given as flags"),
    ],
)
def test_bad_input_is_one_sentence_and_a_failure(flags, sentence):
    done = example(*flags)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if sentence in line and line.startswith("mobilenet: error: ")]
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def plan() -> schema.ExecutionPlan:
    return deserialize_pte_binary(unsealed(PROGRAM.read_bytes())).program.execution_plan[0]


def test_nothing_is_float_between_quantize_and_dequantize(plan):
    names = [plan.operators[i.instr_args.op_index].name for i in plan.chains[0].instructions]
    assert names[0] == "cortex_m::quantize_to_nhwc" and names[-1] == "cortex_m::dequantize_per_tensor"
    # The architecture's own counts (Sandler et al. 2018, table 2): 17 bottlenecks, the first without expansion, ten of
    # them with a residual; first and last convolution; pooling; classifier.
    assert Counter(names[1:-1]) == {
        "cortex_m::quantized_conv2d_nhwc": 16 + 17 + 2,
        "cortex_m::quantized_depthwise_conv2d_nhwc": 17,
        "cortex_m::quantized_add": 10,
        "cortex_m::quantized_avg_pool2d_nhwc": 1,
        "cortex_m::quantized_linear_per_channel": 1,
    }


@pytest.mark.parametrize(
    "file", [PROGRAM, PROGRAM.with_name("mobilenet_cortex_m4.elf"), PROGRAM.with_name("mobilenet_cortex_m55.elf")]
)
def test_nothing_of_this_machine_is_in_what_is_built(file):
    """Else a clone in another folder would build other bytes."""
    content = file.read_bytes()
    for trace in (b"/execroot/", b"/sandbox/", str(Path.home()).encode() + b"/"):
        assert trace not in content


def test_every_constant_is_used(plan):
    used = {argument for i in plan.chains[0].instructions for argument in i.instr_args.args}
    constants = {
        number
        for number, value in enumerate(plan.values)
        if isinstance(value.val, schema.Tensor) and value.val.data_buffer_idx > 0
    }
    assert constants and constants <= used


def test_the_cat_is_class_285_and_the_input_is_the_photo():
    from examples import photos

    index = json.loads((VECTORS / "vectors.json").read_text())
    logits = struct.unpack("<1000f", (VECTORS / index["expected"][0]["file"]).read_bytes())
    assert logits.index(max(logits)) == 285
    photo = photos.load(photos.sample_path("chelsea.png"))
    assert (VECTORS / index["input"][0]["file"]).read_bytes() == photo.numpy().tobytes()
