"""The vector and DSP instructions that the fast variants are written for are in the ELF.

A compiler may drop a vector path without a word (GCC 12 has had such faults), and all results stay right. So the machine
code is read: each fast variant holds its instructions, the inner loops among them.
"""

import functools
import os
import re
import subprocess
from pathlib import Path

import pytest

_OBJDUMP = os.environ["OBJDUMP"]

# Function -> mnemonics (regular expressions) that it must hold. Loads and multiply-accumulates are the inner loops'.
MVE = {
    "cortex_m_nn_add_mve": [r"vldrb\.s32", r"vqrdmulh\.s32", r"vstrb\.32"],
    "cortex_m_nn_avgpool_mve": [r"vldrb\.s16", r"vadd\.i16", r"vstrb\.16"],
    "cortex_m_nn_convolve_columns_mve": [r"vldrb\.u8", r"vstrb\.8", r"vctp\.8"],
    "cortex_m_nn_depthwise_conv_lanes_mve": [r"vldrb\.s16", r"vmullb\.s16", r"vmullt\.s16", r"vqrdmulh\.s32"],
    "cortex_m_nn_depthwise_conv_patches_mve": [r"vldrb\.u8", r"vstrb\.16"],
    "cortex_m_nn_dot_2x4_mve": [],  # chooses one of the next two
    "near": [r"vmlava\.s8|vmladava\.s8", r"vldrb\.u8"],
    "far": [r"vmlava\.s8|vmladava\.s8", r"vldrb\.u8"],
    "cortex_m_nn_extremum_mve": [r"vldrbt\.8|vldrbt\.u8", r"vmax\.s8", r"vmin\.s8", r"vstrbt\.8"],
    "cortex_m_nn_fully_connected_mve": [],  # chooses between any_rows and the others
    "any_rows": [r"vmlava\.s8|vmladava\.s8", r"vldrb\.u8", r"vqrdmulh\.s32", "le"],
    "quick_row_per_channel": [r"dlstp\.8", r"vmlava\.s8|vmladava\.s8", r"vldrb\.u8", "letp", r"vqrdmulh\.s32"],
    "quick_row_per_tensor": [r"dlstp\.8", r"vmlava\.s8|vmladava\.s8", r"vldrb\.u8", "letp", r"vqrdmulh\.s32"],
    "cortex_m_nn_max_pool_mve": [r"vmax\.s8", r"vldrb\.u8"],
    "cortex_m_nn_mul_mve": [r"vldrb\.s16", r"vmullb\.s16", r"vqrdmulh\.s32"],
    "cortex_m_nn_gather_inside_mve": [r"vldrb\.u8", r"vstrb\.8"],
    "cortex_m_nn_gather_window_mve": [r"vldrb\.u8", r"vstrb\.8", r"vctp\.8"],
    "cortex_m_nn_packed_block_mve": [
        r"vmlava\.s8|vmladava\.s8",
        r"vldrb\.u8",
        r"vqrdmlah\.s32",
        r"vrshl\.s32",
        r"vstrb\.16",
    ],
    "cortex_m_nn_packed_conv_mve": [r"vstrh\.16"],
    "cortex_m_nn_packed_depthwise_conv_mve": [r"vstrb\.8"],
    "cortex_m_nn_packed_depthwise_pixel_mve": [
        r"vmullb\.s8",
        r"vmullt\.s8",
        r"vldrb\.u8",
        r"vqrdmulh\.s32",
        r"vqmovnt\.s16",
        "le",
    ],
    "cortex_m_nn_packed_quad_mve": [],  # chooses one of the next three
    "quad_16": [r"vmlava\.s8|vmladava\.s8", r"vldrw\.u32", r"vqrdmlah\.s32", r"vstrb\.16"],
    "quad_32": [r"vmlava\.s8|vmladava\.s8", r"vldrw\.u32", r"vqrdmlah\.s32", r"vstrb\.16"],
    "quad_64": [r"vmlava\.s8|vmladava\.s8", r"vldrw\.u32", r"vqrdmlah\.s32", r"vstrb\.16"],
    "cortex_m_nn_prelu_mve": [r"vldrbt\.s32", r"vcmp\.s32", "vpsel", r"vqrdmulh\.s32", r"vstrbt\.32"],
    "cortex_m_nn_dequantize_mve": [r"vldrbt?\.s32", r"vcvt\.f32\.s32", r"vmul\.f32", r"vstrw\.32"],
    "cortex_m_nn_quantize_mve": [r"vld20\.32", r"vmul\.f32", r"vcvtn\.s32\.f32", r"vqmovnb\.s32", r"vstrb\.16", "le"],
    "cortex_m_nn_convolve_small_mve": [],  # calls the next one
    "dot": [r"vmlava\.s8|vmladava\.s8", r"vldrbt?\.u?8"],
    "cortex_m_nn_depthwise_conv_small_mve": [r"vldrbt\.s32", r"vmul\.i32", r"vqrdmulh\.s32", r"vstrbt\.32"],
    "cortex_m_nn_fully_connected_small_mve": [],  # calls dot
    "cortex_m_nn_softmax_mve": [r"vqrdmulht?\.s32", r"vshl\.i32"],
}
DSP = {
    "cortex_m_nn_quantize_fpu": [r"vmul\.f32", r"vcvtr\.s32\.f32", "ssat"],
    "cortex_m_nn_avgpool_dsp": ["sxtab16"],
    "cortex_m_nn_convolve_columns_dsp": [],  # chooses one of the next two
    "multiply_full": ["smlad", "sxtb16", "smmulr"],
    "multiply_any": ["smlad", "sxtb16"],
    "cortex_m_nn_extremum_words": ["ssub8", "sel"],
    "cortex_m_nn_packed_linear_dsp": ["sxtab16"],
    "multiply_pairs": ["smlad", "sxtb16", "ldm.*"],
    "cortex_m_nn_fully_connected_thumb2": ["sxtb16", "smlad", "smmulr"],
}


@functools.cache
def functions(core: str) -> dict[str, list[str]]:
    """Mnemonics of each function of the core's ELF of all variants."""
    elf = Path("cortex_m/nn") / f"variants_{core}.elf"
    # Without the architecture binutils shows MVE as coprocessor instructions.
    machine = ["-m", "armv8.1-m.main"] if core == "cortex_m55" else []
    command: list[str | Path] = [_OBJDUMP, "--disassemble", "--no-show-raw-insn", *machine, elf]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if heading := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
            name = re.sub(r"\.(isra|constprop|part)\.\d+", "", heading[1])  # a copy with fewer arguments
            mnemonics = found.setdefault(name, [])
        elif (columns := line.split("\t"))[0].endswith(":") and len(columns) > 1:
            mnemonics.append(columns[1].strip())
    return found


@pytest.mark.parametrize(
    ("core", "function", "mnemonic"),
    [(core, function, mnemonic) for core, table in (("cortex_m55", MVE), ("cortex_m4", DSP))
     for function, mnemonics in table.items() for mnemonic in mnemonics],
)  # fmt: skip
def test_instruction_is_there(core, function, mnemonic):
    found = functions(core)
    assert function in found, f"{function} is not in the ELF"
    assert any(re.fullmatch(mnemonic, one) for one in found[function]), sorted(set(found[function]))


def test_every_fast_variant_is_in_the_table():
    assert {name for name in functions("cortex_m55") if name.endswith("_mve")} <= set(MVE)
    assert {name for name in functions("cortex_m4") if re.search("_(dsp|thumb2)$", name)} <= set(DSP)


def test_scalar_cores_use_none_of_them():
    used = {one for mnemonics in functions("cortex_m0").values() for one in mnemonics}
    assert not {one for one in used if re.match(r"smla|sxtab16|vldr|vml", one)}


def test_convolution_multiplies_pairs_on_dsp_and_sixteen_lanes_on_mve():
    """Static functions carry the inner loops of convolutions; their names are the compiler's to keep."""
    counts = lambda core, mnemonic: sum(
        bool(re.fullmatch(mnemonic, one)) for mnemonics in functions(core).values() for one in mnemonics
    )
    assert counts("cortex_m4", "smlad") > 100
    assert counts("cortex_m55", r"vmladav?a?\.s8|vmlava?\.s8") > 40
