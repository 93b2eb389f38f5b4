"""The boards' tables against each other, the table of cores and the arithmetic of their clocks."""

import ast
import itertools
import re
from pathlib import Path

import pytest

from cortex_m.boards import boards

_FOLDER = Path(boards.__file__).resolve().parent


def _cores():
    tree = ast.parse((_FOLDER.parent / "cores.bzl").read_text())
    return next(ast.literal_eval(s.value) for s in tree.body if isinstance(s, ast.Assign))


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("mps3_an547", (125, 128)),  # 31.25 ns a tick, 32 ns an instruction
        ("mps2_an386", (5, 4)),  # 40 ns a tick
        ("mps2_an505", (25, 16)),  # 50 ns a tick
    ],
)
def test_instructions_per_tick(name, ratio):
    assert boards.instructions_per_tick(boards.load(name)) == ratio


@pytest.mark.parametrize("name", boards.names())
def test_names_refer_to_memories(name):
    board = boards.load(name)
    assert board["name"] == name
    for used in [board["code"], board["data"], board["pool"], *board["model"], *board["arena"]]:
        boards.memory(board, used)
    assert boards.memory(board, board["code"])["access"] == "rx"
    for used in [board["data"], board["pool"], *board["arena"]]:
        assert boards.memory(board, used)["access"] == "rw"


@pytest.mark.parametrize("name", boards.names())
def test_memories_suit_the_mpu_and_do_not_overlap(name):
    memories = sorted(boards.load(name)["memories"], key=lambda m: m["origin"])
    for memory in memories:
        length = memory["length"]
        assert length & (length - 1) == 0 and memory["origin"] % length == 0
    for low, high in itertools.pairwise(memories):
        assert low["origin"] + low["length"] <= high["origin"]


@pytest.mark.parametrize("name", boards.names())
def test_memory_below_the_stack_is_missing(name):
    """An overflow of the stack, which is at the bottom of its memory, must leave all memory."""
    board = boards.load(name)
    bottom = boards.memory(board, board["data"])["origin"]
    assert all(not m["origin"] < bottom <= m["origin"] + m["length"] for m in board["memories"])


def test_cores_name_their_boards():
    by_board = {core: name for name in boards.names() for core in boards.load(name)["cores"]}
    assert {core: entry["board"] for core, entry in _cores().items()} == by_board


def test_starlark_knows_every_board():
    loaded = re.findall(r'load\("//cortex_m/boards/(\w+):board\.bzl"', (_FOLDER / "boards.bzl").read_text())
    assert sorted(loaded) == boards.names()


def test_unknown_board_is_refused():
    with pytest.raises(ValueError, match="there is no board 'mps9'"):
        boards.load("mps9")


def test_core_finds_its_board():
    for core, entry in _cores().items():
        assert boards.for_core(core) == entry["board"]


def test_core_without_a_board_is_refused():
    with pytest.raises(ValueError, match="there is no board for cortex_m99; the boards have .*cortex_m55"):
        boards.for_core("cortex_m99")
