"""`board_library`: what a bare-metal board adds to a program, built from its table alone."""

load(":board_config.bzl", "board_config")
load(":boards.bzl", "BOARDS")

def board_library(name):
    """Declares the cc_library of a board in the board's own folder.

    It brings start-up, fault handlers, console, files and instruction counter (platform.h), and exists on the board's
    cores only.

    Args:
      name: of the board, and so of its folder.
    """
    board_config(
        name = name + "_config",
        board = name,
    )
    native.cc_library(
        name = name,
        srcs = ["//cortex_m/boards:bare_metal_sources"],
        deps = [
            ":" + name + "_config",
            "//cortex_m/boards:platform",
        ],
        # The vectors are what calls the program; nothing refers to them.
        alwayslink = True,
        target_compatible_with = select(dict(
            {"//cortex_m/boards:is_" + core: [] for core in BOARDS[name]["cores"]},
            **{"//conditions:default": ["//platforms:incompatible"]}
        )),
        visibility = ["//cortex_m/boards:__pkg__"],
    )
