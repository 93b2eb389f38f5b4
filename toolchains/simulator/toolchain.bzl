"""Simulators as a Bazel toolchain: tests name a core, the toolchain names the simulator.

A rule that runs an ELF asks for it so:

    load("//toolchains/simulator:toolchain.bzl", "SIMULATOR_TOOLCHAIN_TYPE")

    def _impl(ctx):
        simulator = ctx.toolchains[SIMULATOR_TOOLCHAIN_TYPE].simulator  # a SimulatorInfo
        ... simulator.path.short_path in the test's script, [simulator.path] in its runfiles ...

    rule(implementation = _impl, test = True, toolchains = [SIMULATOR_TOOLCHAIN_TYPE])
"""

SIMULATOR_TOOLCHAIN_TYPE = str(Label("//toolchains/simulator:toolchain_type"))

SimulatorInfo = provider(
    doc = "An installed simulator.",
    fields = {
        "kind": "\"qemu\" or \"fvp\": decides how it is called.",
        "path": "File: a script that runs the simulator with the arguments it gets. Its bytes change with the simulator's version.",
        "version": "What the simulator says of its version.",
    },
)

def _installed_simulator_impl(ctx):
    files = depset([ctx.file.path])
    return [
        DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files)),
        SimulatorInfo(kind = ctx.attr.kind, path = ctx.file.path, version = ctx.attr.version),
    ]

installed_simulator = rule(
    implementation = _installed_simulator_impl,
    attrs = {
        "kind": attr.string(mandatory = True, values = ["fvp", "qemu"]),
        "path": attr.label(mandatory = True, allow_single_file = True),
        "version": attr.string(mandatory = True),
    },
    provides = [SimulatorInfo],
    doc = "A simulator that a repository rule found.",
)

def _simulator_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(simulator = ctx.attr.simulator[SimulatorInfo])]

simulator_toolchain = rule(
    implementation = _simulator_toolchain_impl,
    attrs = {"simulator": attr.label(mandatory = True, providers = [SimulatorInfo])},
    doc = "Offers an installed simulator to the rules that run ELFs.",
)
