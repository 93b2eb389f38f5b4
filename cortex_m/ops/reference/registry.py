"""Where reference files announce what they implement.

@reference("quantized_add")
def quantized_add(self, self_zero_point, ...): ...

@fake("quantized_add")
def quantized_add_fake(self, self_zero_point, ...): ...
"""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable)

REFERENCES: dict[str, Callable] = {}
FAKES: dict[str, Callable] = {}


def _register(table: dict[str, Callable], names: tuple[str, ...]) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        for name in names:
            if name in table:
                raise ValueError(f"cortex_m::{name} is registered twice")
            table[name] = function
        return function

    return add


def reference(*names: str) -> Callable[[Function], Function]:
    """Declares the decorated function as the exact computation of the ops `names`."""
    return _register(REFERENCES, names)


def fake(*names: str) -> Callable[[Function], Function]:
    """Declares the decorated function as the shape function of the ops `names`: it allocates, and computes nothing."""
    return _register(FAKES, names)
