"""Trains the network; a build action (//examples/digits:weights), so the same inputs always give the same bytes.

train.py weights.pt
"""

import io
import sys
from pathlib import Path

import torch

from examples.digits.net import network, samples

_EPOCHS = 12
_BATCH = 32


def train() -> torch.nn.Module:
    # One thread and one seed: sums are added in one order, samples come in one order.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    data, _ = samples()
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    steps = _EPOCHS * (len(data.labels) // _BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(_EPOCHS):
        order = torch.randperm(len(data.labels))
        for batch in order.split(_BATCH)[: len(data.labels) // _BATCH]:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(data.images[batch]), data.labels[batch])
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


if __name__ == "__main__":
    archive = io.BytesIO()  # torch.save writes the name of a file into it
    torch.save(train().state_dict(), archive)
    Path(sys.argv[1]).write_bytes(archive.getvalue())
