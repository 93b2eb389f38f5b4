"""Draws networks, exports each, and compares host, device and PyTorch.

    bazel run //tools:random_networks -- --seed=0 --count=300

A network is exact, or refused with a reason. Of a fault it prints the smallest network that shows it, as a script. Exit status 1
if there is a fault.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch

from cortex_m.test.catalogue.case import Call
from cortex_m.test.catalogue.judge import Row, rows
from cortex_m.test.device import Device
from cortex_m.test.random_networks.draw import draw
from cortex_m.test.random_networks.network import Network

# Twenty roundings after another cost more than one. What is wrong is below 5 dB, as a rule.
FLOOR_DB = 10.0
_ATTEMPTS = 40  # of making a network smaller


def judge(networks: Sequence[Network], device: Device) -> list[Row]:
    """A row for each; the device is started once."""
    return rows([call(network) for network in networks], device, floor_db=FLOOR_DB)


def call(network: Network) -> Call:
    return Call(f"network {network.seed}", network.module, (network.input,))


def kind(row: Row) -> str:
    """What two faults have in common, so that a smaller network shows the same one."""
    return row.fault.split(":")[0] if row.state == "traceback" else row.fault.strip("-0123456789")


def shrink(network: Network, row: Row, device: Device) -> Network:
    """The smallest network found whose fault is of the same kind."""
    attempts = 0
    while attempts < _ATTEMPTS:
        for smaller in network.smaller():
            attempts += 1
            try:
                found = judge([smaller], device)[0]
            except Exception:  # noqa: BLE001  (PyTorch's own: the shapes do not fit)
                continue
            if found.fault and kind(found) == kind(row):
                network = smaller
                break
            if attempts >= _ATTEMPTS:
                return network
        else:
            return network
    return network


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the first network")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--shrink", type=int, default=1, help="0: print faulty networks as they were drawn")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    device = Device("cortex_m55")
    counts: Counter[str] = Counter()
    for begin in range(options.seed, options.seed + options.count, 20):
        networks = [draw(seed) for seed in range(begin, min(begin + 20, options.seed + options.count))]
        for network, row in zip(networks, judge(networks, device)):
            counts["fault" if row.fault else row.state] += 1
            if row.fault:
                small = shrink(network, row, device) if options.shrink else replace(network)
                print(f"{row.name}: {row.state}: {row.fault}\n{small.script()}", flush=True)
    print(f"{sum(counts.values())} networks: " + ", ".join(f"{count} {state}" for state, count in counts.most_common()))
    return 1 if counts["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
