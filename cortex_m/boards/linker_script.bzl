"""`linker_script`: the linker script of a board, with the places of the embedded model and the arena filled in."""

load(":boards.bzl", "BOARDS", "memory")

def _hex(value):
    digits = ["0123456789abcdef"[(value >> shift) & 15] for shift in range(28, -1, -4)]
    return "0x" + "".join(digits)

def _memory_line(region):
    return "  %s (%s) : ORIGIN = %s, LENGTH = %s" % (
        region["name"],
        region["access"],
        _hex(region["origin"]),
        _hex(region["length"]),
    )

# A null pointer points to the vectors where code begins at address 0, and the MPU guards them there (mpu.c). QEMU checks
# access by pages of 1 KiB: code that shared one with the guard would be decoded anew for each instruction, a thousand times
# slower. So there the vectors have a page of their own.
_GUARDED_VECTORS_BYTES = 1024
_VECTORS_BYTES = 256

def _linker_script_impl(ctx):
    board = BOARDS[ctx.attr.board]
    if ctx.file.placement:
        placement = "INCLUDE \"%s\"" % ctx.file.placement.path
    else:
        arena = ctx.attr.arena or board["arena"][0]
        model = ctx.attr.model or board["model"][0]
        for name in [arena, model]:
            memory(board, name)
        placement = "REGION_ALIAS(\"ARENA\", %s)\nREGION_ALIAS(\"MODEL\", %s)" % (arena, model)
    script = ctx.actions.declare_file(ctx.label.name + ".ld")
    ctx.actions.expand_template(
        template = ctx.file._template,
        output = script,
        substitutions = {
            "{MEMORIES}": "\n".join([_memory_line(region) for region in board["memories"]]),
            "{CODE}": board["code"],
            "{DATA}": board["data"],
            "{POOL}": board["pool"],
            "{PLACEMENT}": placement,
            "{VECTORS_BYTES}": str(
                _GUARDED_VECTORS_BYTES if memory(board, board["code"])["origin"] == 0 else _VECTORS_BYTES,
            ),
            "{STACK_BYTES}": str(ctx.attr.stack_bytes or board["stack_bytes"]),
        },
    )
    return [DefaultInfo(files = depset([script]), runfiles = ctx.runfiles([script]))]

linker_script = rule(
    implementation = _linker_script_impl,
    attrs = {
        "board": attr.string(mandatory = True, values = BOARDS.keys(), doc = "Name of the board."),
        "arena": attr.string(doc = "Memory of the .arena section; the board's fastest when empty."),
        "model": attr.string(doc = "Memory of the .model section; the board's first choice when empty."),
        "placement": attr.label(
            allow_single_file = [".ld"],
            doc = "Instead of `arena` and `model`: a file, made at build time, with REGION_ALIAS of ARENA and MODEL. " +
                  "A link that uses the script must have this file among its inputs.",
        ),
        "stack_bytes": attr.int(doc = "Size of the stack; the board's default when 0."),
        "_template": attr.label(default = ":linker.ld.template", allow_single_file = True),
    },
    doc = "A linker script for one board. Name it in additional_linker_inputs and linkopts of a cc_binary.",
)
