"""What the cross compiler made of a small firmware: the right architecture, nothing superfluous, nothing of this machine.

Expected architectures are those of Arm's reference manuals, as the ABI's build attributes spell them (ABI addenda, IHI 0045).
"""

import re
import subprocess
from pathlib import Path

import pytest

FOLDER = "toolchains/arm_none_eabi/test"
TOOLS = Path("../arm_none_eabi/bin")

# Tag_CPU_arch, Tag_FP_arch, Tag_MVE_arch and whether floats travel in FPU registers.
ARCHITECTURES = {
    "cortex_m0": {"Tag_CPU_arch": "v6S-M"},
    "cortex_m4": {"Tag_CPU_arch": "v7E-M", "Tag_FP_arch": "VFPv4-D16", "Tag_ABI_VFP_args": "VFP registers"},
    "cortex_m33": {
        "Tag_CPU_arch": "v8-M.mainline",
        "Tag_FP_arch": "FPv5/FP-D16 for ARMv8",
        "Tag_ABI_VFP_args": "VFP registers",
    },
    "cortex_m55": {
        "Tag_CPU_arch": "v8.1-M.mainline",
        "Tag_FP_arch": "FPv5/FP-D16 for ARMv8",
        "Tag_ABI_VFP_args": "VFP registers",
        "Tag_MVE_arch": "MVE Integer and FP",
    },
}


def built(core: str, name: str) -> Path:
    """The file `name` as it was built for `core`."""
    return Path(FOLDER, f"firmware_{core}", name)


def tool(name: str, *arguments: str | Path) -> str:
    """Output of a tool of the cross compiler."""
    return subprocess.run([TOOLS / name, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("core", ARCHITECTURES)
def test_code_is_for_the_core(core):
    attributes = dict(re.findall(r"(Tag_\w+): (.*)", tool("readelf", "-A", built(core, "firmware"))))
    found = {tag: attributes.get(tag, "").strip('"') for tag in ARCHITECTURES[core]}
    assert found == ARCHITECTURES[core]


def test_soft_float_core_has_no_fpu_code():
    attributes = tool("readelf", "-A", built("cortex_m0", "firmware"))
    assert "Tag_FP_arch" not in attributes
    assert "VFP registers" not in attributes


@pytest.mark.parametrize("core", ARCHITECTURES)
@pytest.mark.parametrize("name", ["firmware", "libsample.a"])
def test_no_absolute_path_gets_in(core, name):
    """Sources carry debug information and __FILE__, the two places where the name of a folder ends up."""
    content = built(core, name).read_bytes()
    here = str(built(core, name).resolve().parent).encode()
    assert here not in content
    assert set(re.findall(rb"(?<![\w.+\-/])/(?:[\w.+-]+/)+[\w.+-]+", content)) == set()


@pytest.mark.parametrize("core", ARCHITECTURES)
def test_source_is_named_from_the_root_and_dates_are_redacted(core):
    assert b"toolchains/arm_none_eabi/test/sample.cc redacted redacted" in built(core, "firmware").read_bytes()


@pytest.mark.parametrize("core", ARCHITECTURES)
def test_unused_functions_are_dropped(core):
    symbols = tool("nm", built(core, "firmware"))
    assert "sample_sum" in symbols
    assert "sample_unused" not in symbols
    assert "sample_unused" in tool("nm", built(core, "libsample.a"))


@pytest.mark.parametrize("core", ARCHITECTURES)
def test_cpp_brings_no_unwinding_no_guards_no_destructor_registration(core):
    assert ".ARM.ex" not in tool("readelf", "-SW", built(core, "libsample.a"))
    symbols = tool("nm", built(core, "firmware"))
    assert not re.search(r"__cxa_|__aeabi_atexit|_Unwind", symbols)


@pytest.mark.parametrize("core", ARCHITECTURES)
def test_archives_carry_no_time_and_no_owner(core):
    listing = tool("ar", "tvO", built(core, "libsample.a"))
    assert re.match(r"rw-r--r-- 0/0 +\d+ Jan  1 00:00 1970 sample", listing), listing
