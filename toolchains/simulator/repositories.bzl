"""@qemu and @fvp: the simulators of the machine, each looked for only when it is used."""

load("//third_party:debian.bzl", "need_program")

_BUILD = """
load("@cortex_m_workspace//toolchains/simulator:toolchain.bzl", "installed_simulator")

installed_simulator(
    name = "simulator",
    kind = {kind},
    path = "run",
    version = {version},
    visibility = ["//visibility:public"],
)
"""

# A file of a few bytes, so that tests name neither an absolute path nor a large program among their inputs.
_RUN = """#!/bin/sh
# {version}
exec '{program}' "$@"
"""

def _write(ctx, kind, program):
    asked = ctx.execute([program, "--version"], timeout = 60)
    if asked.return_code != 0:
        fail("%s does not run: %s" % (program, asked.stderr.strip()))
    version = ([line.strip() for line in asked.stdout.split("\n") if line.strip()] or ["unknown version"])[0]
    ctx.file("run", _RUN.format(version = version, program = program))
    ctx.file("BUILD.bazel", _BUILD.format(kind = repr(kind), version = repr(version)), executable = False)

def _qemu_repository_impl(ctx):
    _write(ctx, "qemu", need_program(ctx, "qemu-system-arm", "qemu-system-arm", "the simulator of Cortex-M boards"))

qemu_repository = repository_rule(
    implementation = _qemu_repository_impl,
    configure = True,
    environ = ["PATH"],
    doc = "QEMU, from PATH.",
)

_FVP = "FVP_Corstone_SSE-300"

def _fvp_in(folder):
    """The first FVP in a folder, or None."""
    if not folder.exists:
        return None
    found = sorted([str(entry) for entry in folder.readdir() if entry.basename.startswith(_FVP)])
    return found[0] if found else None

def _fvp_repository_impl(ctx):
    chosen = ctx.os.environ.get("FVP_PATH")
    if chosen and chosen.split("/")[-1].startswith(_FVP):
        if not ctx.path(chosen).exists:
            fail("$FVP_PATH names %s, which does not exist." % chosen)
        return _write(ctx, "fvp", chosen)
    folders = [chosen] if chosen else [folder for folder in ctx.os.environ.get("PATH", "").split(":") if folder.startswith("/")]
    for folder in folders:
        program = _fvp_in(ctx.path(folder))
        if program:
            return _write(ctx, "fvp", program)
    fail("The simulator flag asks for an FVP, but there is no %s* in %s: put it on PATH or name its folder in $FVP_PATH." % (_FVP, "$FVP_PATH (%s)" % chosen if chosen else "$PATH"))

fvp_repository = repository_rule(
    implementation = _fvp_repository_impl,
    configure = True,
    environ = ["FVP_PATH", "PATH"],
    doc = "Arm's Corstone-300 FVP, from $FVP_PATH (the program or its folder) or PATH.",
)
