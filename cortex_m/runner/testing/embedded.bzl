"""`embedded`: an embedded runner with the operators of :kernels. For the tests of cortex_m/runner alone."""

load("//cortex_m/boards:board_binary.bzl", "BOARD_NAME_OR_HOST", "board_binary")

def _runner_sources_impl(ctx):
    config = ctx.actions.declare_file(ctx.label.name + "/model_config.h")
    selected = ctx.actions.declare_file(ctx.label.name + "/kernels.txt")
    placement = ctx.actions.declare_file(ctx.label.name + "/placement.ld")
    model = ctx.actions.declare_file(ctx.label.name + "/model.S")
    ctx.actions.run(
        executable = ctx.executable._generate,
        arguments = [
            "--info=" + ctx.file.info.path,
            "--kernels=" + ctx.file.kernels.path,
            "--config=" + config.path,
            "--selected=" + selected.path,
            "--placement=" + placement.path,
        ] + (["--board=" + ctx.attr.board] if ctx.attr.board else []),
        inputs = [ctx.file.info, ctx.file.kernels],
        outputs = [config, selected, placement],
    )
    ctx.actions.expand_template(
        template = ctx.file._template,
        output = model,
        substitutions = {"{PROGRAM}": ctx.file.program.path},
    )
    return [
        DefaultInfo(files = depset([model])),
        OutputGroupInfo(placement = depset([placement])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([config, ctx.file.program]),
            quote_includes = depset([config.dirname]),
        )),
    ]

_runner_sources = rule(
    implementation = _runner_sources_impl,
    attrs = {
        "board": attr.string(),
        "info": attr.label(allow_single_file = True, cfg = "exec"),
        "kernels": attr.label(allow_single_file = True),
        "program": attr.label(allow_single_file = True, cfg = "exec"),
        "_generate": attr.label(default = "//cortex_m/runner:generate_tool", executable = True, cfg = "exec"),
        "_template": attr.label(default = "//cortex_m/runner:model.S.template", allow_single_file = True),
    },
)

def embedded(name, program):
    """Declares a board_binary that runs one of the programs of programs.py.

    Args:
      name: of the binary.
      program: name of the program, as in programs.py.
    """
    native.genrule(
        name = name + "_program",
        srcs = ["programs.py"],
        outs = [name + ".pte"],
        cmd = "PYTHONDONTWRITEBYTECODE=1 $(location @pypi//:python) $(location programs.py) %s $@ 2>/dev/null" % program,
        tools = ["@pypi//:python"],
    )
    native.genrule(
        name = name + "_info",
        srcs = [name + ".pte"],
        outs = [name + "_info.json"],
        cmd = "$(location //cortex_m/runtime:program_info) $< > $@",
        tools = ["//cortex_m/runtime:program_info"],
    )
    native.genrule(
        name = name + "_kernels",
        outs = [name + "_kernels.txt"],
        cmd = "printf '%s\\n' aten::add.out aten::sub.out aten::mul.out > $@",
    )
    _runner_sources(
        name = name + "_sources",
        board = BOARD_NAME_OR_HOST,
        info = name + "_info.json",
        kernels = name + "_kernels.txt",
        program = name + ".pte",
    )
    native.filegroup(
        name = name + "_placement",
        srcs = [name + "_sources"],
        output_group = "placement",
    )
    board_binary(
        name = name,
        srcs = [
            "//cortex_m/runner:embedded.cc",
            name + "_sources",
        ],
        copts = [
            "-Wall",
            "-Wextra",
            "-Werror",
        ],
        placement = name + "_placement",
        deps = [
            ":kernels",
            name + "_sources",
            "//cortex_m/runner:embedded_deps",
        ],
    )
