"""Command line of the simulator launcher.

    launch.py --board mps3_an547 [--cwd FOLDER] [--timeout 60] [--simulator qemu|fvp|PATH] ELF [ARGUMENT...]

Prints what the program prints. Exit status: the program's own; for everything else that goes wrong 125 and one sentence
on stderr, beginning "error: ".
"""

from __future__ import annotations

import argparse
import sys

from cortex_m.boards import boards
from cortex_m.simulator import MissingSimulator, SimulatorError, run

EXIT_ABNORMAL = 125


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="launch", description="Runs a bare-metal ELF on a simulated board.")
    parser.add_argument("--board", required=True, choices=boards.names())
    parser.add_argument("--cwd", help="folder that the program's file names are relative to")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds before the simulator is killed")
    parser.add_argument("--simulator", default="qemu", help="qemu, fvp or the path of a qemu-system-arm")
    parser.add_argument("elf")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    try:
        result = run(
            options.board,
            options.elf,
            options.arguments,
            cwd=options.cwd,
            timeout=options.timeout,
            simulator=options.simulator,
        )
    except SimulatorError as error:
        sys.stdout.write(error.stdout)
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        return error.status if error.kind == "status" and error.status is not None else EXIT_ABNORMAL
    except (MissingSimulator, FileNotFoundError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_ABNORMAL
    sys.stdout.write(result.stdout)
    return result.status


if __name__ == "__main__":
    sys.exit(main())
