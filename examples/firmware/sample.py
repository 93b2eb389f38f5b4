"""Writes the first input of a model's test vectors as an array of bytes in C: sample.py VECTORS NAME > NAME.h"""

import sys
from pathlib import Path


def main() -> None:
    vectors, name = sys.argv[1:]
    data = (Path(vectors) / "input_0.bin").read_bytes()
    lines = [", ".join(f"0x{byte:02x}" for byte in data[start : start + 16]) for start in range(0, len(data), 16)]
    print("#include <stdint.h>\n")
    print(f"static const uint8_t {name}[{len(data)}] = {{\n    " + ",\n    ".join(lines) + "};")


if __name__ == "__main__":
    main()
