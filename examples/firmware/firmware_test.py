"""The firmware prints the predicted outputs of both models on both boards, and fits what it says it needs."""

import json
import subprocess
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from cortex_m import simulator
from cortex_m.boards import boards
from cortex_m.simulator import elf_size
from cortex_m.simulator.command import QEMU

HERE = Path("examples/firmware")
VECTORS = Path("cortex_m/test/models")
CORES = ["cortex_m55", "cortex_m4"]
SMALL = HERE / "small_cortex_m55.elf"


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


def test_the_smallest_image_fits_20_kib():
    """All that is in flash beside the program: start-up, runtime, operators, kernels, constants."""
    sizes = elf_size.sections(SMALL)
    table = "".join(f"{name:12} {size:6}\n" for name, size in sizes.items())
    code = sum(sizes[name] for name in (".vectors", ".text", ".rodata", ".data"))
    print(f"{table}{'code':12} {code:6}")
    assert set(sizes) <= {".vectors", ".text", ".rodata", ".data", ".model", ".bss"}
    assert code <= 20480, f"{code} bytes:\n{table}"


def test_the_smallest_image_asks_no_debugger_for_anything():
    assert b"\xab\xbe" not in SMALL.read_bytes().partition(b"ET12")[0]  # BKPT 0xAB, before the program


def test_the_smallest_image_answers_by_the_serial_port():
    scores, sound = (vectors("ds_cnn", kind) for kind in ("expected", "input"))
    machine = boards.load("mps3_an547")["qemu_machine"]
    command = [QEMU, "-M", machine, "-display", "none", "-monitor", "none", "-serial", "stdio", "-kernel", SMALL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as board:
        try:
            watchdog = threading.Timer(200, board.kill)
            watchdog.start()
            board.stdin.write(2 * sound)
            board.stdin.flush()
            answers = board.stdout.read(2)
        finally:
            watchdog.cancel()
            board.kill()
    assert answers == 2 * f"{np.frombuffer(scores, np.float32).argmax():x}".encode()
