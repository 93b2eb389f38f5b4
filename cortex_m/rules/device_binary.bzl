"""`device_binary`: an ELF for a named core, as a file that host targets use as data."""

def _to_core_impl(_settings, attr):
    return {"//command_line_option:platforms": "//platforms:" + attr.core}

to_core = transition(
    implementation = _to_core_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _device_binary_impl(ctx):
    # A transition makes `binary` a list of one.
    elf = ctx.attr.binary[0][DefaultInfo].files_to_run.executable
    output = ctx.actions.declare_file(ctx.label.name + ".elf")
    ctx.actions.symlink(output = output, target_file = elf)
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

device_binary = rule(
    implementation = _device_binary_impl,
    attrs = {
        "binary": attr.label(
            mandatory = True,
            cfg = to_core,
            doc = "A cc_binary, most often by board_binary.",
        ),
        "core": attr.string(
            mandatory = True,
            doc = "Name of the platform in //platforms: cortex_m55.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = """Builds a binary for a core, whatever platform the rest is built for. The output is NAME.elf.

    device_binary(name = "probe_m55", binary = ":probe", core = "cortex_m55")
    pytest_test(name = "probe_test", data = [":probe_m55"], ...)""",
)
