"""models.zip by itself: unpacked, built by CMake and the cross compiler alone, run; the firmware prints what Bazel's prints."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from cortex_m import simulator

HERE = Path("examples/firmware")
PREFIX = "models/"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """The example as a team without Bazel has it."""
    folder = tmp_path_factory.mktemp("project")
    for name in (
        "main.c",
        "anomaly.cc",
        "anomaly.h",
        "checksum.h",
        "console.h",
        "keywords_sample.h",
        "anomaly_sample.h",
    ):
        shutil.copy(HERE / name, folder)
    shutil.copytree(HERE / "cmake", folder / "cmake")
    with zipfile.ZipFile(HERE / "models.zip") as archive:
        archive.extractall(folder)
    return folder


def cmake(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["cmake", *arguments], cwd=folder, capture_output=True, check=False, text=True)


@pytest.fixture(scope="module")
def built(project) -> Path:
    toolchain = ["-DCMAKE_TOOLCHAIN_FILE=../models/arm-none-eabi.cmake", "-DCORTEX_M_CORE=cortex-m4"]
    for arguments in (["-G", "Ninja", "-S", ".", "-B", "build", *toolchain], ["--build", "build", "-j1"]):
        done = cmake(project / "cmake", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning" not in done.stdout + done.stderr
    return project / "cmake" / "build" / "firmware.elf"


def test_computes_what_the_firmware_of_bazel_computes(built):
    ours = simulator.run("mps2_an386", built, timeout=200).stdout
    assert ours == simulator.run("mps2_an386", HERE / "firmware_cortex_m4.elf", timeout=200).stdout
    assert ours.count("keyword scores: 0x") == 2


def test_a_section_that_the_linker_script_does_not_place_is_an_error(project, built):
    script = project / "cmake" / "mps2_an386.ld"
    text = script.read_text()
    script.write_text(text.replace("*(.arena)", "*(.arenas)"))
    try:
        (project / "cmake" / "build" / "firmware.elf").rename(project / "firmware.elf")
        done = cmake(project / "cmake", "--build", "build", "-j1")
    finally:
        script.write_text(text)
        (project / "firmware.elf").rename(built)
    assert done.returncode != 0
    assert "a section is linked in that this linker script does not place" in done.stdout


def test_an_unknown_core_is_an_error_that_names_the_known_ones(project):
    toolchain = "-DCMAKE_TOOLCHAIN_FILE=../models/arm-none-eabi.cmake"
    done = cmake(project / "cmake", "-G", "Ninja", "-S", ".", "-B", "other", toolchain, "-DCORTEX_M_CORE=cortex-a9")
    assert done.returncode != 0
    message = " ".join(done.stderr.split())
    assert "CORTEX_M_CORE is cortex-a9; it must be one of cortex-m0, cortex-m0plus, cortex-m3, cortex-m4" in message


def test_holds_what_these_models_need_and_no_more():
    with zipfile.ZipFile(HERE / "models.zip") as archive:
        names = archive.namelist()
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        readme = archive.read(PREFIX + "README.md").decode()
    assert names == sorted(names)
    assert all(name.startswith(PREFIX) for name in names)
    for name in (
        "README.md",
        "LICENSE",
        "CMakeLists.txt",
        "include/keywords.h",
        "models/keywords.pte",
        "src/cortex_m/ops/quantized_linear.cc",
    ):
        assert PREFIX + name in names
    # Neither network pools by maximum, pads, or adds.
    assert not [name for name in names if re.search("max_pool|softmax|quantized_add|portable/cat", name)]
    assert "| //cortex_m/test/models:ds_cnn | keywords.h |" in readme
    assert "These share an arena: anomaly_detector, keywords." in readme
