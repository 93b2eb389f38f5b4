"""Compiler options that make float32 results the same on every core and on the host."""

EXACT_FLOAT_COPTS = [
    # A fused multiply-add rounds once where the others round twice.
    "-ffp-contract=off",
    # Vectors of Helium flush subnormal numbers to zero, scalar instructions do not.
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    # math.h refuses to be compiled without it: the options above leave no trace that a source could look at.
    "-DCORTEX_M_EXACT_FLOAT",
]
