"""`board_config`: the numbers of a board as a C header, board_config.h."""

load(":boards.bzl", "BOARDS", "instructions_per_tick")

_HEADER = """// Generated from the board's table by //cortex_m/boards:board_config.bzl.
#define BOARD_NAME "{name}"
#define BOARD_INTERRUPTS {interrupts}
#define BOARD_INSTRUCTIONS_PER_TICK_NUMERATOR {numerator}u
#define BOARD_INSTRUCTIONS_PER_TICK_DENOMINATOR {denominator}u
// origin, length, executable
#define BOARD_MEMORIES {memories}
"""

def _board_config_impl(ctx):
    board = BOARDS[ctx.attr.board]
    numerator, denominator = instructions_per_tick(board)
    header = ctx.actions.declare_file(ctx.label.name + "/board_config.h")
    ctx.actions.write(header, _HEADER.format(
        name = board["name"],
        interrupts = board["interrupts"],
        numerator = numerator,
        denominator = denominator,
        memories = ", ".join([
            "{%du, %du, %d}" % (m["origin"], m["length"], 1 if m["access"] == "rx" else 0)
            for m in board["memories"]
        ]),
    ))
    context = cc_common.create_compilation_context(
        headers = depset([header]),
        quote_includes = depset([header.dirname]),
    )
    return [DefaultInfo(files = depset([header])), CcInfo(compilation_context = context)]

board_config = rule(
    implementation = _board_config_impl,
    attrs = {"board": attr.string(mandatory = True, values = BOARDS.keys())},
    doc = "A C header with the numbers of a board, to be named in `deps` of a cc_library.",
)
