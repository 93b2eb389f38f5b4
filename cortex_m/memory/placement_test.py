"""Placements against the optimum that trying everything finds, and against the conditions that make them placements."""

import itertools
import random

import pytest

from cortex_m.memory.placement import Part, Storage, joined, lower_bound, place


def random_storages(seed: int, count: int, moments: int = 6, sizes: int = 6) -> list[Storage]:
    chance = random.Random(seed)
    storages = []
    for _ in range(count):
        first = chance.randrange(moments)
        storages.append(Storage.of(16 * chance.randint(1, sizes), first, min(moments, first + chance.randrange(3))))
    return storages


def in_parts(seed: int) -> list[Storage]:
    """Storages of up to three parts each, of odd sizes."""
    chance = random.Random(seed)
    storages = []
    for _ in range(chance.randint(2, 9)):
        parts = []
        for _ in range(chance.randint(1, 3)):
            first = chance.randrange(8)
            parts.append(Part(chance.randrange(40), chance.randint(1, 50), first, first + chance.randrange(4)))
        storages.append(Storage(tuple(parts)))
    return storages


def collide(one: Storage, at: int, other: Storage, other_at: int) -> bool:
    """Byte by byte and moment by moment."""
    used = {
        (at + byte, t)
        for p in one.parts
        for byte in range(p.offset, p.offset + p.size)
        for t in range(p.first, p.last + 1)
    }
    return any(
        (other_at + byte, t) in used
        for p in other.parts
        for byte in range(p.offset, p.offset + p.size)
        for t in range(p.first, p.last + 1)
    )


def optimum(storages: list[Storage], unit: int = 16) -> int:
    """Every multiple of `unit` for every storage, up to a size that surely suffices."""
    for size in range(lower_bound(storages), sum(s.size for s in storages) + unit, unit):
        choices = [range(0, size - s.size + 1, unit) for s in storages]

        def fits(index: int, offsets: list[int]) -> bool:
            if index == len(storages):
                return True
            for offset in choices[index]:
                if not any(collide(storages[index], offset, storages[j], offsets[j]) for j in range(index)):
                    if fits(index + 1, [*offsets, offset]):
                        return True
            return False

        if fits(0, []):
            return size
    raise AssertionError("side by side they fit")


@pytest.mark.parametrize("seed", range(40))
def test_few_storages_are_placed_as_well_as_can_be(seed):
    storages = random_storages(seed, 3 + seed % 4)
    assert place(storages).size == optimum(storages)


@pytest.mark.parametrize("seed", range(200))
def test_no_two_storages_collide(seed):
    storages = in_parts(seed) if seed % 2 else random_storages(seed, 12)
    placement = place(storages)
    for (one, at), (other, other_at) in itertools.combinations(zip(storages, placement.offsets), 2):
        assert not collide(one, at, other, other_at)
    assert all(offset % 16 == 0 and offset + s.size <= placement.size for s, offset in zip(storages, placement.offsets))
    assert placement.size >= lower_bound(storages)


def test_the_bound_is_what_is_live_at_one_moment():
    """At moment 1: 17 bytes, rounded to 32, and 16."""
    assert lower_bound([Storage.of(17, 0, 1), Storage.of(16, 1, 2), Storage.of(20, 2, 3)]) == 48


def test_the_bound_counts_what_is_read_last_at_a_moment():
    """One ends where the other begins: an operator reads the first while it writes the second."""
    assert lower_bound([Storage.of(16, 0, 1), Storage.of(32, 1, 2)]) == 48


def test_a_span_inside_another_changes_nothing():
    assert joined([(0, 64), (16, 32), (64, 80), (96, 112)]) == [(0, 80), (96, 112)]


def test_parts_that_share_bytes_count_once():
    assert lower_bound([Storage((Part(0, 32, 0, 1), Part(0, 32, 1, 2)))]) == 32


def test_a_part_that_is_not_in_use_yet_leaves_its_bytes_to_others():
    """The second half of the first storage is used at moment 1 only: till then another lies there."""
    halves = Storage((Part(0, 64, 0, 1), Part(64, 64, 1, 1)))
    assert place([halves, Storage.of(64, 0, 0)]).size == 128


def test_many_storages_that_could_be_in_a_network_reach_the_bound():
    """Chains with residual connections, as large images become small ones: each layer has input, output and scratch."""
    for seed in range(20):
        chance = random.Random(seed)
        storages, size = [], 16 * 4096
        for step in range(60):
            storages.append(Storage.of(size, step, step + (3 if chance.random() < 0.3 else 1)))
            storages.append(Storage.of(16 * chance.randint(1, 40), step, step))
            size = max(256, size // chance.choice([1, 1, 2]) * chance.choice([1, 1, 2]))
        assert place(storages).size <= 1.05 * lower_bound(storages)


def test_the_same_storages_get_the_same_offsets():
    storages = random_storages(7, 60)
    assert place(storages) == place(storages)


def test_nothing_takes_nothing():
    assert place([]).size == 0
    assert place([Storage.of(0, 0, 3), Storage.of(0, 1, 2)]).size == 0
