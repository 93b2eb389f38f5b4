"""portable_kernels: one library for each file of kernels, so that a program links what it calls and no more."""

load(":build_options.bzl", "EXACT_FLOAT_COPTS")

# Files of kernels that move or choose values and compute none: what int8 programs call beside operators of cortex_m.
MOVEMENT = [
    "as_strided",
    "cat",
    "clamp",
    "compare",
    "constant_pad",
    "copy",
    "edge_pad",
    "expand",
    "extremum",
    "flip",
    "gather",
    "index",
    "index_select",
    "permute",
    "pixel_shuffle",
    "slice",
    "split",
    "triangle",
    "upsample_nearest",
    "view",
    "where",
]

# All files of kernels, without .cc.
FILES = MOVEMENT + [
    "activation",
    "any_all",
    "arange",
    "arithmetic",
    "convolution",
    "cumsum",
    "divide",
    "exponential",
    "fill",
    "glu",
    "hyperbolic",
    "logic",
    "matmul",
    "norm",
    "piecewise",
    "pool",
    "pow",
    "root",
    "rounding",
    "sign",
    "softmax",
    "sort",
    "sum",
    "trigonometric",
    "upsample_bilinear",
    "var",
]

_COPTS = EXACT_FLOAT_COPTS + [
    "-Wall",
    "-Wextra",
    "-Werror",
    # GCC remarks on Arm how std::initializer_list was passed before version 7.
    "-Wno-psabi",
]

def portable_library(name, srcs = [], hdrs = [], **kwargs):
    """A cc_library with the options of the portable kernels.

    Args:
      name: of the library.
      srcs: as for cc_library.
      hdrs: as for cc_library.
      **kwargs: as for cc_library.
    """
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _COPTS,
        features = ["optimize_size"],
        **kwargs
    )

def portable_kernels(name, files, deps, visibility):
    """Declares a library for each of `files`, and `name` for all of them.

    Args:
      name: of the library that stands for all.
      files: names without .cc.
      deps: of each library.
      visibility: of `name`.
    """
    for file in files:
        portable_library(name = file, srcs = [file + ".cc"], deps = deps)
    native.cc_library(name = name, visibility = visibility, deps = [":" + file for file in files])
