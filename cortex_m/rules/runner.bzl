"""cortex_m_runner: a model linked into an ELF, or into a host program, with buffers of exactly the size it needs."""

load("//cortex_m/boards:board_binary.bzl", "CORE_NAME_OR_HOST", "board_binary")
load(":kernel_table.bzl", "KERNEL_TABLE_ATTRS", "kernel_table_action")
load(":model.bzl", "CortexMModelInfo")
load(":program_info.bzl", "PROGRAM_INFO_ATTRS", "program_info")
load(":python_action.bzl", "run_python")

def _runner_sources_impl(ctx):
    model = ctx.attr.model[CortexMModelInfo]
    info = program_info(ctx, model.program, ctx.label.name + "/program_info.json")
    config, selected, placement, embed = [
        ctx.actions.declare_file(ctx.label.name + "/" + name)
        for name in ["model_config.h", "kernels.txt", "placement.ld", "model.S"]
    ]
    sources = [embed]
    arguments = [
        "--info=" + info.path,
        "--kernels=" + ctx.file.available.path,
        "--name=%s" % ctx.attr.model.label,
        "--config=" + config.path,
        "--selected=" + selected.path,
        "--placement=" + placement.path,
        "--program=" + model.program.path,
        "--template=" + ctx.file._embed.path,
        "--assembly=" + embed.path,
        "--verify_at=" + ctx.attr.verify_at,
    ]
    if ctx.attr.core:
        arguments.append("--core=" + ctx.attr.core)
        if ctx.attr.arena:
            arguments.append("--arena=" + ctx.attr.arena)
    if model.report:
        arguments.append("--report=" + model.report.path)
    run_python(
        ctx,
        main = ctx.file._generate,
        deps = [ctx.attr._generate_library],
        inputs = [info, ctx.file.available, ctx.file._embed, model.program] + ([model.report] if model.report else []),
        outputs = [config, selected, placement, embed],
        arguments = arguments,
        mnemonic = "CortexMRunnerConfig",
        progress_message = "Fitting %s to %s" % (ctx.attr.model.label, ctx.attr.core or "the host"),
    )
    if ctx.attr.table:
        kernels = ctx.actions.declare_file(ctx.label.name + "/kernels.cc")
        sources.append(kernels)
        kernel_table_action(
            ctx,
            ["--operators=" + selected.path, "--table=" + kernels.path],
            [selected],
            [kernels],
        )
    return [
        DefaultInfo(files = depset(sources)),
        OutputGroupInfo(placement = depset([placement])),
        # The program counts as a header: whoever compiles model.S reads it.
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([config, model.program]),
            quote_includes = depset([config.dirname]),
        )),
    ]

_runner_sources = rule(
    implementation = _runner_sources_impl,
    doc = "Generates the sources of a runner of one model: buffers, kernel table, the embedded program, its placement.",
    attrs = dict(dict(KERNEL_TABLE_ATTRS, **PROGRAM_INFO_ATTRS), **{
        "model": attr.label(mandatory = True, providers = [CortexMModelInfo]),
        "core": attr.string(doc = "Name in //platforms; empty for the host."),
        "arena": attr.string(doc = "Memory of the board for the arena; empty for the first in which it fits."),
        "_generate": attr.label(default = "//cortex_m/runner:generate.py", allow_single_file = True),
        "_generate_library": attr.label(default = "//cortex_m/runner:generate", providers = [PyInfo]),
        "available": attr.label(mandatory = True, allow_single_file = True, doc = "Names of the operators it may call."),
        "verify_at": attr.string(values = ["build", "init"], default = "build"),
        "table": attr.bool(default = True, doc = "Whether to generate the table of kernels."),
        "_embed": attr.label(default = "//cortex_m/runner:model.S.template", allow_single_file = True),
    }),
)

def embedded_runner(name, model, operators, deps, arena = None, table = True, verify_at = "build", visibility = None, **kwargs):
    """Declares a runner of one model with a choice of operators; cortex_m_runner is what a model's user wants.

    Args:
      name: of the cc_binary.
      model: label of a cortex_m_model or cortex_m_program.
      operators: label of a file with the names of the operators that the model may call, one a line.
      deps: libraries with the kernels of these operators.
      arena: as of cortex_m_runner.
      verify_at: as of cortex_m_runner.
      table: whether to generate the table of kernels; if not, `deps` have a LinkedKernels() of their own.
      visibility: of the cc_binary.
      **kwargs: other attributes of cc_binary.
    """
    sources = name + "_sources"
    _runner_sources(
        name = sources,
        model = model,
        arena = arena,
        available = operators,
        core = CORE_NAME_OR_HOST,
        table = table,
        verify_at = verify_at,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    native.filegroup(
        name = name + "_placement",
        srcs = [sources],
        output_group = "placement",
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    board_binary(
        name = name,
        srcs = [Label("//cortex_m/runner:embedded.cc"), sources],
        deps = [sources, Label("//cortex_m/runner:embedded_deps")] + deps,
        placement = name + "_placement",
        visibility = visibility,
        **kwargs
    )

def cortex_m_runner(name, model, arena = None, portable = False, verify_at = "build", visibility = None, **kwargs):
    """Declares a runner of one model: an ELF on a device platform, a program on the host.

        cortex_m_runner(name = "net_runner", model = ":net")
        # bazel build --platforms=//platforms:cortex_m55 :net_runner

    It reads its inputs from files named on its command line (`--input FILE`, one for each input), writes output i to
    PREFIX-i.bin (`--output-prefix PREFIX`) and prints what it measured; on a board through semihosting.

    A model that was exported for a core with another instruction set, that calls an operator without a kernel, or that does not
    fit the board, is a build error.

    Args:
      name: of the cc_binary.
      model: label of a cortex_m_model or cortex_m_program.
      arena: memory of the board for the arena instead of the first in which it fits.
      verify_at: "build": checksum and structure of the program are verified by the build, and start reads no more than its header.
        "init": at each start, too, for a program that may be exchanged or damaged in flash.
      portable: whether the model may call all operators of cortex_m/portable, which is what a model that is not strict leaves
        in float, instead of those alone that move int8 values. They are many to compile; only those that the model calls are
        linked.
      visibility: of the cc_binary.
      **kwargs: other attributes of cc_binary.
    """
    embedded_runner(
        name = name,
        model = model,
        arena = arena,
        verify_at = verify_at,
        operators = Label("//cortex_m/runner:all.txt") if portable else Label("//cortex_m/runner:int8.txt"),
        deps = [Label("//cortex_m/runner:all_operators") if portable else Label("//cortex_m/runner:int8_operators")] + kwargs.pop("deps", []),
        visibility = visibility,
        **kwargs
    )
