"""The firmware prints the predicted outputs of both models on both boards, and fits what it says it needs."""

import json
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from cortex_m import simulator
from cortex_m.boards import boards
from cortex_m.simulator import elf_size

HERE = Path("examples/firmware")
VECTORS = Path("cortex_m/test/models")
CORES = ["cortex_m55", "cortex_m4"]


def vectors(model: str, kind: str) -> bytes:
    folder = VECTORS / f"{model}.vectors"
    (entry,) = json.loads((folder / "vectors.json").read_text())[kind]
    return (folder / entry["file"]).read_bytes()


def run(core: str, name: str = "firmware") -> str:
    if core == "host":
        return subprocess.run([HERE / "firmware"], check=True, capture_output=True, text=True, timeout=60).stdout
    return simulator.run(boards.for_core(core), HERE / f"{name}_{core}.elf", timeout=200).stdout


@pytest.mark.parametrize("core", ["host", *CORES])
def test_prints_the_predicted_outputs(core):
    scores, sound = (vectors("ds_cnn", kind) for kind in ("expected", "input"))
    reproduction, noise = (vectors("deep_autoencoder", kind) for kind in ("expected", "input"))
    assert len(sound) == 490 * 4 and len(noise) == len(reproduction) == 640 * 4
    keyword = [f"keyword: {np.frombuffer(scores, np.float32).argmax()}", f"keyword scores: 0x{zlib.crc32(scores):08x}"]
    lines = run(core).splitlines()
    distance = lines.pop(2)
    assert lines == [*keyword, f"reproduction: 0x{zlib.crc32(reproduction):08x}", *keyword]
    mean = np.square(np.frombuffer(noise, np.float32).astype(float) - np.frombuffer(reproduction, np.float32)).mean()
    assert abs(int(distance.removeprefix("distance, thousandths: ")) - 1000 * mean) <= 1


def test_compiled_for_size_it_computes_the_same():
    assert run("cortex_m55", "firmware_for_size") == run("cortex_m55")


def planned_bytes(program: Path) -> int:
    printed = subprocess.run(["cortex_m/runtime/program_info", program], check=True, capture_output=True).stdout
    (method,) = json.loads(printed)["methods"]
    return sum(method["planned_bytes"])


@pytest.mark.parametrize("core", CORES)
def test_memory(core):
    sizes = elf_size.report(HERE / f"firmware_{core}.elf")
    print(f"firmware on {core}: {json.dumps(sizes)}")
    programs = [VECTORS / "ds_cnn.pte", VECTORS / "deep_autoencoder.pte"]
    # One arena, the larger one's; both programs, each aligned to 16.
    assert sizes["arena"] == max(planned_bytes(program) for program in programs)
    assert sizes["model"] == sum(-(-program.stat().st_size // 16) * 16 for program in programs)


def test_the_smallest_image():
    sizes = elf_size.report(HERE / "small_cortex_m55.elf")
    print(f"small on cortex_m55: {json.dumps(sizes)}")
    assert sizes["code"] < 37 << 10
