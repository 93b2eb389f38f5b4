"""`device_binary`: an ELF for a named core, as a file that host targets use as data; `small_device_binary`: the same in -Os."""

load("//cortex_m:cores.bzl", "CORES", "platform_of")

_PLATFORMS = {core: str(Label("//platforms:" + core)) for core in CORES}

def _platform(core):
    if platform_of(core) not in _PLATFORMS:
        fail("there is no core %s; there are %s" % (core, ", ".join(_PLATFORMS.keys())))
    return _PLATFORMS[platform_of(core)]

def _to_core_impl(_settings, attr):
    return {"//command_line_option:platforms": _platform(attr.core)}

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

def _to_small_impl(settings, attr):
    return {
        "//command_line_option:platforms": _platform(attr.core),
        "//command_line_option:features": settings["//command_line_option:features"] + ["minimum_size"],
    }

_to_small = transition(
    implementation = _to_small_impl,
    inputs = ["//command_line_option:features"],
    outputs = [
        "//command_line_option:features",
        "//command_line_option:platforms",
    ],
)

def _attrs(to):
    return {
        "binary": attr.label(
            mandatory = True,
            cfg = to,
            doc = "A cc_binary, most often by board_binary.",
        ),
        "core": attr.string(
            mandatory = True,
            doc = "Name of the platform in //platforms: cortex_m55.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    }

device_binary = rule(
    implementation = _device_binary_impl,
    attrs = _attrs(to_core),
    doc = """Builds a binary for a core, whatever platform the rest is built for. The output is NAME.elf.

    device_binary(name = "probe_m55", binary = ":probe", core = "cortex_m55")
    pytest_test(name = "probe_test", data = [":probe_m55"], ...)""",
)

small_device_binary = rule(
    implementation = _device_binary_impl,
    attrs = _attrs(_to_small),
    doc = "The same with everything, the kernels too, compiled for size: as by --features=minimum_size.",
)
