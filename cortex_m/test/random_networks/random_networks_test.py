"""A few random networks of fixed seeds; `bazel run //tools:random_networks -- --count=300` draws as many as asked for."""

import pytest
import torch

from cortex_m.test.catalogue.judge import Row
from cortex_m.test.device import Device
from cortex_m.test.random_networks import run
from cortex_m.test.random_networks.draw import draw
from cortex_m.test.random_networks.network import Network, Step

COUNT = 24


@pytest.fixture(scope="module")
def device():
    torch.set_num_threads(1)
    return Device("cortex_m55")


def test_each_network_is_exact_or_refused_with_a_reason(device):
    networks = [draw(seed) for seed in range(COUNT)]
    faults = [
        f"{row.fault}\n{network.script()}" for network, row in zip(networks, run.judge(networks, device)) if row.fault
    ]
    assert not faults, "\n\n".join(faults)


def test_a_seed_draws_one_network():
    assert draw(3) == draw(3) != draw(4)


def test_networks_are_of_all_sizes_and_share_layers():
    networks = [draw(seed) for seed in range(COUNT)]
    assert all(3 <= len(network.steps) <= 20 for network in networks)
    assert max(len(network.steps) for network in networks) >= 15
    calls = [[step.layer for step in network.steps if step.layer is not None] for network in networks]
    assert any(len(set(layers)) < len(layers) for layers in calls)
    assert any(network.channels_last for network in networks)


def test_the_script_computes_what_the_network_does():
    network = draw(5)
    space: dict = {}
    script = network.script().split("\ntorch.manual_seed")[0]
    exec(compile(script, "script", "exec"), space)
    torch.manual_seed(network.seed)
    shown, module = space["Network"]().eval(), network.module()
    shown.load_state_dict(module.state_dict())
    x = network.input(torch.Generator().manual_seed(0))
    one, other = shown(x), module(x)
    assert all(map(torch.equal, one, other)) if isinstance(one, tuple) else torch.equal(one, other)


def test_a_fault_is_shown_by_the_fewest_steps(monkeypatch):
    """Of five steps, the fault is in the one that takes the sine."""
    steps = (
        Step("F.relu({0})", (0,)), Step("torch.sin({0})", (1,)), Step("{0} + {1}", (2, 1)), Step("torch.tanh({0})", (3,)),
        Step("{0} * 2", (1,)),
    )  # fmt: skip
    network = Network(0, (1, 8), False, (), steps)
    monkeypatch.setattr(run, "judge", lambda networks, _: [
        Row("", "int8", 3.0, "", "3 dB" if "sin" in networks[0].source() else "") for _ in networks
    ])  # fmt: skip
    small = run.shrink(network, Row("", "int8", 1.0, "", "1 dB"), None)
    assert [step.call for step in small.steps][-1] == "torch.sin({0})" and len(small.steps) <= 2
