"""Every byte of a linked ELF's flash has its use and its file."""

from pathlib import Path

import pytest

from cortex_m.report.flash import GROUPS, read_flash
from cortex_m.simulator import elf_size

ELVES = [Path(f"cortex_m/report/testing/net_report_cortex_{core}_elf.elf") for core in ("m4", "m55")]


@pytest.mark.parametrize("elf", ELVES, ids=lambda elf: elf.stem)
def test_groups_and_files_add_up_to_the_sections(elf):
    flash, sizes = read_flash(elf), elf_size.report(elf)
    assert flash.total == sizes["flash"]
    assert sum(flash.groups.values()) == flash.total
    assert sum(size for _, _, size in flash.files) == flash.total
    assert flash.groups["program (.pte)"] == sizes["model"]
    assert set(flash.groups) == set(GROUPS) and flash.groups["other"] == 0


@pytest.mark.parametrize(("elf", "suffix"), list(zip(ELVES, ("_dsp.c", "_mve.c"))))
def test_files_are_in_their_groups(elf, suffix):
    group_of = {file: group for file, group, _ in read_flash(elf).files}
    assert group_of["execute.cc"] == group_of["method.cc"] == "runtime"
    assert group_of["embedded.cc"] == group_of["files.cc"] == "runner"
    assert group_of["startup.c"] == group_of["semihosting.c"] == "start-up and console"
    assert group_of["quantized_conv2d.cc"] == group_of["kernels.cc"] == "operators"
    assert group_of["texts"] == "texts"
    kernels = [file for file, group in group_of.items() if group == "kernels"]
    assert any(file.endswith(suffix) for file in kernels), kernels
    assert not [file for file, group in group_of.items() if file.startswith("arm_") and group != "kernels"]


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "text.elf"
    text.write_text("no ELF")
    with pytest.raises(ValueError, match="is not a 32-bit little-endian ELF"):
        read_flash(text)
    damaged = tmp_path / "damaged.elf"
    damaged.write_bytes(ELVES[0].read_bytes()[:3000])
    with pytest.raises(ValueError, match="is a damaged ELF"):
        read_flash(damaged)
