"""Estimated cycles of eight layers beside those that were published of silicon, for docs/cycles.md.

    CMSIS_NN_PATH=FOLDER bazel run --config=peer //cortex_m/cycles:calibrate

Silicon: an Alif E8's Cortex-M55 with arenas in SRAM, ExecuTorch 1.1 with CMSIS-NN 7.0.0 (pytorch/executorch, issue 17651). Here:
the CMSIS-NN of $CMSIS_NN_PATH, so that a part of the difference is another version and another compiler.
"""

import math
import sys
from pathlib import Path

from cortex_m import cycles

SILICON = {
    "conv 3x3 s2 3->32": 13_754_047,
    "depthwise 3x3 32": 13_715_766,
    "pointwise 32->16": 4_915_937,
    "pointwise 16->96": 24_249_462,
    "depthwise 3x3 s2 96": 10_286_711,
    "pointwise 96->24": 2_791_555,
    "pointwise 24->144": 10_329_014,
    "depthwise 3x3 144": 15_319_785,
}


def main() -> None:
    elf = Path(sys.argv[1] if len(sys.argv) > 1 else "cortex_m/cycles/calibration_cortex_m55.elf")
    result, segments = cycles.count("cortex_m55", elf)
    estimator = cycles.Estimator("cortex_m55", elf)
    print("| layer | instructions | estimate, cycles | of these, waits | silicon, cycles | estimate / silicon |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    ratios = []
    for name, segment in zip(SILICON, cycles.measured(segments), strict=True):
        estimate = estimator.estimate(segment)
        ratios.append(estimate.cycles / SILICON[name])
        figures = (int(result.values[name]), round(estimate.cycles), round(estimate.waits), SILICON[name])
        print(f"| {name} | {' | '.join(f'{figure:,}' for figure in figures)} | {ratios[-1]:.2f} |")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")


if __name__ == "__main__":
    main()
