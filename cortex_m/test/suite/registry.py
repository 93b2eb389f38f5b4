"""All cases of all operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cortex_m.test.suite import (
    convolution,
    elementwise,
    linear,
    matmul,
    movement,
    packed,
    pooling,
    prelu,
    quantize,
    softmax,
    tables,
    transposed,
)
from cortex_m.test.suite.case import Case

FAMILIES = (
    quantize,
    elementwise,
    tables,
    prelu,
    convolution,
    packed,
    transposed,
    linear,
    matmul,
    pooling,
    softmax,
    movement,
)


def drawn(strategy: st.SearchStrategy[Case], count: int) -> list[Case]:
    """The first `count` examples that hypothesis draws; the same in every run."""
    found: list[Case] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def _all() -> Iterator[Case]:
    numbers: Counter[str] = Counter()
    for family in FAMILIES:
        yield from family.cases()
        for strategy, count in family.draws():
            for case in drawn(strategy, count):
                numbers[case.op] += 1
                yield replace(case, kind="drawn", name=f"drawn {numbers[case.op]}: {case.name}")


@lru_cache(maxsize=1)
def all_cases() -> tuple[Case, ...]:
    """Every case. ValueError if two of an operator have one name."""
    cases = tuple(_all())
    twice = [name for name, count in Counter(map(str, cases)).items() if count > 1]
    if twice:
        raise ValueError(f"more than one case is called {twice}")
    return cases
