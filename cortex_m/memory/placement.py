"""Offsets for storages that live for a while each, so that the memory that holds them all is small.

    placement = place([Storage.of(64, 0, 1), Storage.of(32, 1, 2)])
    placement.size, placement.offsets

The problem is dynamic storage allocation (Garey and Johnson, 1979, SR2; NP-hard). No placement is smaller than what is live
at one moment (`lower_bound`), and most networks reach that. First fit is tried in several orders; if none reaches the bound,
orders are improved by local search, and few storages are placed by branch and bound. Nothing depends on time or chance: the
same storages get the same offsets.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable, Sequence

DEFAULT_ALIGNMENT = 16
_SEARCH_STEPS = 1000  # of the local search: about a second for 200 storages
_BRANCHES = 20_000  # of branch and bound: exact for up to about eight storages that are all in each other's way


@dataclasses.dataclass(frozen=True)
class Part:
    """Bytes [offset, offset + size) of a storage, in use from `first` to `last`, both included."""

    offset: int
    size: int
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class Storage:
    """Parts with fixed distances: of one storage they may overlap, in bytes and time."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, size: int, first: int, last: int) -> Storage:
        return cls((Part(0, size, first, last),))

    @property
    def size(self) -> int:
        return max(part.offset + part.size for part in self.parts)

    @property
    def first(self) -> int:
        return min(part.first for part in self.parts)

    @property
    def last(self) -> int:
        return max(part.last for part in self.parts)

    def live(self, moment: int) -> list[tuple[int, int]]:
        """Spans [begin, end) of the bytes that a part uses at `moment`, ascending and apart."""
        return joined((p.offset, p.offset + p.size) for p in self.parts if p.size and p.first <= moment <= p.last)


@dataclasses.dataclass(frozen=True)
class Placement:
    """An offset for each storage, in the order they were given, and the bytes that they take together."""

    offsets: tuple[int, ...]
    size: int


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans [begin, end) in ascending order, those that touch or overlap as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def align(value: int, alignment: int) -> int:
    """The next multiple of `alignment` from `value` on."""
    return -(-value // alignment) * alignment


def live_bytes(storages: Iterable[Storage], moment: int, alignment: int = DEFAULT_ALIGNMENT) -> int:
    """Bytes without which no arena does at `moment`.

    Storages begin at multiples of `alignment`, so each takes a multiple of it; unless a part inside one begins in between,
    which can use what the rounding of another leaves.
    """
    live = [spans for spans in (storage.live(moment) for storage in storages) if spans]
    sizes = [sum(end - begin for begin, end in spans) for spans in live]
    if any(begin % alignment for spans in live for begin, _ in spans):
        return align(sum(sizes), alignment)
    return sum(align(size, alignment) for size in sizes)


def lower_bound(storages: Sequence[Storage], alignment: int = DEFAULT_ALIGNMENT) -> int:
    """The largest sum of simultaneously live bytes."""
    moments = sorted({part.first for storage in storages for part in storage.parts})
    return max((live_bytes(storages, moment, alignment) for moment in moments), default=0)


def place(storages: Sequence[Storage], alignment: int = DEFAULT_ALIGNMENT) -> Placement:
    """Offsets that are multiples of `alignment`; no two storages have a byte in common while both use it."""
    return _Search(storages, alignment).run()


# Places are tried in the order of one of these keys. Large ones first is what works best, as for bins.
_ORDERS: tuple[Callable[[Storage], tuple], ...] = (
    lambda s: (-s.size, s.first),
    lambda s: (-s.size * (s.last - s.first + 1), s.first),
    lambda s: (-(s.last - s.first), -s.size),
    lambda s: (s.first, -s.size),
    lambda s: (-s.last, -s.size),
)


class _Search:
    def __init__(self, storages: Sequence[Storage], alignment: int):
        self._storages = storages
        self._alignment = alignment
        self._bound = lower_bound(storages, alignment)
        # forbidden[i][j]: open intervals in which (offset of i) - (offset of j) must not be.
        self._forbidden: list[dict[int, list[tuple[int, int]]]] = [{} for _ in storages]
        for i, one in enumerate(storages):
            for j in range(i):
                distances = _forbidden_distances(one, storages[j])
                if distances:
                    self._forbidden[i][j] = distances
                    self._forbidden[j][i] = [(-high, -low) for low, high in distances]

    def run(self) -> Placement:
        everything = range(len(self._storages))
        orders = [sorted(everything, key=lambda i: (*key(self._storages[i]), i)) for key in _ORDERS]
        best, order = min(((self._first_fit(order), order) for order in orders), key=lambda found: found[0].size)
        if best.size > self._bound:
            best = min(best, self._improve(order, best), key=lambda placement: placement.size)
        if best.size > self._bound:
            best = self._branch(best)
        return best

    def _lowest(self, index: int, offsets: dict[int, int]) -> int:
        """The lowest offset at which a storage is in nobody's way."""
        blocked = sorted(
            (offsets[other] + low, offsets[other] + high)
            for other, distances in self._forbidden[index].items()
            if other in offsets
            for low, high in distances
        )
        offset = 0
        for low, high in blocked:
            if low < offset < high:
                offset = align(high, self._alignment)
        return offset

    def _placement(self, offsets: dict[int, int]) -> Placement:
        top = max((offsets[i] + storage.size for i, storage in enumerate(self._storages)), default=0)
        return Placement(tuple(offsets[i] for i in range(len(self._storages))), align(top, self._alignment))

    def _first_fit(self, order: Sequence[int]) -> Placement:
        offsets: dict[int, int] = {}
        for index in order:
            offsets[index] = self._lowest(index, offsets)
        return self._placement(offsets)

    def _improve(self, order: list[int], best: Placement) -> Placement:
        """Moves a storage that reaches the top to an earlier place in the order, and keeps what is no worse."""
        chance = random.Random(0)
        current = best
        for _ in range(_SEARCH_STEPS):
            if best.size <= self._bound:
                break
            top = [
                place for place, index in enumerate(order)
                if align(current.offsets[index] + self._storages[index].size, self._alignment) == current.size
            ]  # fmt: skip
            here = chance.choice(top)
            changed = list(order)
            changed.insert(chance.randrange(here + 1), changed.pop(here))
            found = self._first_fit(changed)
            if found.size <= current.size:
                current, order = found, changed
            if current.size < best.size:
                best = current
        return best

    def _branch(self, best: Placement) -> Placement:
        """Depth first through all orders with ascending offsets: first fit finds the optimum in one of them.

        For, with the storages sorted by their offsets in an optimal placement, each gets at most that offset.
        """
        budget = _BRANCHES
        offsets: dict[int, int] = {}

        def visit(reached: int) -> None:
            nonlocal best, budget
            if len(offsets) == len(self._storages):
                best = min(best, self._placement(offsets), key=lambda placement: placement.size)
                return
            left = [
                (self._lowest(index, offsets), index) for index in range(len(self._storages)) if index not in offsets
            ]
            if any(offset + self._storages[index].size > best.size - self._alignment for offset, index in left):
                return
            for offset, index in sorted(left, key=lambda found: (found[0], -self._storages[found[1]].size, found[1])):
                if best.size <= self._bound or budget <= 0:
                    return
                if offset < reached:
                    continue
                budget -= 1
                offsets[index] = offset
                visit(offset)
                del offsets[index]

        visit(0)
        return best


def _forbidden_distances(one: Storage, other: Storage) -> list[tuple[int, int]]:
    """Open intervals in which the distance from `other` to `one` must not be, joined where they overlap."""
    distances: list[tuple[int, int]] = []
    for low, high in sorted(
        (b.offset - a.offset - a.size, b.offset + b.size - a.offset)
        for a in one.parts
        for b in other.parts
        if a.size and b.size and a.first <= b.last and b.first <= a.last
    ):
        if distances and low < distances[-1][1]:  # the ends themselves are allowed
            distances[-1] = (distances[-1][0], max(distances[-1][1], high))
        else:
            distances.append((low, high))
    return distances
