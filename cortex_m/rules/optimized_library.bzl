"""`optimized_library`: a shared library for this machine that is compiled for speed, whatever the build's mode is."""

def _optimized_impl(_settings, _attr):
    return {"//command_line_option:compilation_mode": "opt"}

_optimized = transition(
    implementation = _optimized_impl,
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _optimized_library_impl(ctx):
    # A transition makes `library` a list of one.
    library = ctx.attr.library[0][DefaultInfo].files_to_run.executable
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = library)
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

optimized_library = rule(
    implementation = _optimized_library_impl,
    attrs = {
        "library": attr.label(mandatory = True, cfg = _optimized, doc = "A cc_binary with linkshared."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = """Compiles a shared library, and all that is linked to it, with `-c opt`.

    optimized_library(name = "libcortex_m_host.so", library = ":program.so")""",
)
