"""pytest plugin: chooses cores, and gives each module and test the same random numbers every time.

    pytest -p cortex_m.test.pytest_plugin --cortex-m-target=cortex-m55 --cortex-m-target=cortex-m4 ...

A test that takes `cortex_m_target` runs once for each core and gets its CortexMTargetConfig. The seed is $TEST_SEED, a number (0 if
unset), or RANDOM for another one each time, which is printed.
"""

import os
import random

import pytest

from cortex_m.target_config import CortexMTargetConfig

DEFAULT_TARGET = "cortex-m55"
_TARGETS = pytest.StashKey[list[CortexMTargetConfig]]()
_SEED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cortex-m-target",
        action="append",
        default=None,
        metavar="CORE",
        help=f"core of the fixture cortex_m_target, like cortex-m4; give it several times for several (default: {DEFAULT_TARGET})",
    )


def pytest_configure(config: pytest.Config) -> None:
    try:
        config.stash[_TARGETS] = [
            CortexMTargetConfig.from_target_string(name)
            for name in config.getoption("--cortex-m-target") or [DEFAULT_TARGET]
        ]
        wanted = os.environ.get("TEST_SEED", "0")
        config.stash[_SEED] = random.SystemRandom().randrange(2**31) if wanted == "RANDOM" else int(wanted)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_report_header(config: pytest.Config) -> str:
    names = ", ".join(target.target_string for target in config.stash[_TARGETS])
    return f"cortex_m: {names}; TEST_SEED={config.stash[_SEED]}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cortex_m_target" in metafunc.fixturenames:
        targets = metafunc.config.stash[_TARGETS]
        metafunc.parametrize("cortex_m_target", targets, ids=[target.target_string for target in targets])


def _seed(config: pytest.Config) -> None:
    import numpy
    import torch

    random.seed(config.stash[_SEED])
    numpy.random.seed(config.stash[_SEED])  # noqa: NPY002 (tests may draw from the old generator, too)
    torch.manual_seed(config.stash[_SEED])


def pytest_collectstart(collector: pytest.Collector) -> None:
    if isinstance(collector, pytest.Module):
        _seed(collector.config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _seed(item.config)
