"""The one table of cores: everything that differs from core to core is said here and nowhere else.

Starlark loads this file (platforms, compiler flags, default boards); Python reads the same file as a literal
(`cortex_m/target_config.py`). Keep `CORES` a pure literal: strings, lists, dicts.

Fields of an entry, keyed by the name of its platform in //platforms:
  target   the name a user writes, "cortex-m55"
  enum     the member of `cortex_m.target_config.CortexM`
  isa      widest instruction set the kernels may use: SCALAR, DSP (Armv7E-M, Armv8-M.main + DSP) or MVE (Helium)
  fpu      none, sp (single precision) or dp (double precision)
  flags    what selects core, FPU and ABI for arm-none-eabi-gcc; shared by compiler, assembler and linker
  board    folder in //cortex_m/boards that the core is simulated on by default
"""

CORES = {
    "cortex_m0": {
        "target": "cortex-m0",
        "enum": "M0",
        "isa": "SCALAR",
        "fpu": "none",
        "flags": ["-mcpu=cortex-m0", "-mfloat-abi=soft"],
        "board": "mps2_an385",
    },
    "cortex_m0plus": {
        "target": "cortex-m0plus",
        "enum": "M0PLUS",
        "isa": "SCALAR",
        "fpu": "none",
        "flags": ["-mcpu=cortex-m0plus", "-mfloat-abi=soft"],
        "board": "mps2_an385",
    },
    "cortex_m3": {
        "target": "cortex-m3",
        "enum": "M3",
        "isa": "SCALAR",
        "fpu": "none",
        "flags": ["-mcpu=cortex-m3", "-mfloat-abi=soft"],
        "board": "mps2_an385",
    },
    "cortex_m4": {
        "target": "cortex-m4",
        "enum": "M4",
        "isa": "DSP",
        "fpu": "sp",
        "flags": ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        "board": "mps2_an386",
    },
    "cortex_m7": {
        "target": "cortex-m7",
        "enum": "M7",
        "isa": "DSP",
        "fpu": "dp",
        "flags": ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"],
        "board": "mps2_an500",
    },
    "cortex_m23": {
        "target": "cortex-m23",
        "enum": "M23",
        "isa": "SCALAR",
        "fpu": "none",
        "flags": ["-mcpu=cortex-m23", "-mfloat-abi=soft"],
        "board": "mps2_an505",
    },
    "cortex_m33": {
        "target": "cortex-m33",
        "enum": "M33",
        "isa": "DSP",
        "fpu": "sp",
        "flags": ["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        "board": "mps2_an505",
    },
    "cortex_m35p": {
        "target": "cortex-m35p",
        "enum": "M35P",
        "isa": "DSP",
        "fpu": "sp",
        "flags": ["-mcpu=cortex-m35p", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        "board": "mps2_an505",
    },
    "cortex_m55": {
        "target": "cortex-m55",
        "enum": "M55",
        "isa": "MVE",
        "fpu": "dp",
        "flags": ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
        "board": "mps3_an547",
    },
    "cortex_m85": {
        "target": "cortex-m85",
        "enum": "M85",
        "isa": "MVE",
        "fpu": "dp",
        # GCC 12 does not know cortex-m85; the M55's instructions are a subset of the M85's, so both compilers give one ELF.
        "flags": ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
        "board": "mps3_an547",
    },
}

def platform_of(core):
    """The platform of a core in any of its spellings, cortex_m55, cortex-m55 or m55; what is no core's name is given back.

    Args:
      core: string.

    Returns:
      "cortex_m55", or `core`.
    """
    name = core.replace("-", "_")
    for platform in [name, "cortex_" + name]:
        if platform in CORES:
            return platform
    return core
