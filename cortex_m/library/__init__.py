"""The kernel library's names, as CMSIS-NN's users know them: `cortex_m.library.cmsis_nn`."""
