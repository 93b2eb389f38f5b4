"""`sanitized_binary`: a program for this machine that ends at the first access out of bounds or undefined operation."""

_SANITIZE = "-fsanitize=address,undefined"

def _sanitized_impl(settings, _attr):
    return {
        "//command_line_option:copt": settings["//command_line_option:copt"] + [
            _SANITIZE,
            "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer",
            "-g1",
        ],
        "//command_line_option:linkopt": settings["//command_line_option:linkopt"] + [_SANITIZE],
    }

_OPTIONS = ["//command_line_option:copt", "//command_line_option:linkopt"]

_sanitized = transition(
    implementation = _sanitized_impl,
    inputs = _OPTIONS,
    outputs = _OPTIONS,
)

def _sanitized_binary_impl(ctx):
    # A transition makes `binary` a list of one.
    binary = ctx.attr.binary[0][DefaultInfo].files_to_run.executable
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = binary, is_executable = True)
    runfiles = ctx.runfiles([output]).merge(ctx.attr.binary[0][DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = output, files = depset([output]), runfiles = runfiles)]

sanitized_binary = rule(
    implementation = _sanitized_binary_impl,
    executable = True,
    attrs = {
        "binary": attr.label(mandatory = True, cfg = _sanitized, doc = "A cc_binary."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = """Builds a binary, and all that is linked to it, with AddressSanitizer and UndefinedBehaviorSanitizer.

    sanitized_binary(name = "universal_sanitized", binary = ":universal", target_compatible_with = HOST_ONLY)""",
)
