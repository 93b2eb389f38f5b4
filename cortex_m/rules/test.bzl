"""cortex_m_test: a model on simulated cores, compared with its prediction bit for bit."""

load("//toolchains/simulator:toolchain.bzl", "SIMULATOR_TOOLCHAIN_TYPE")
load(":device_binary.bzl", "device_binary")
load(":model.bzl", "CortexMModelInfo")
load(":runner.bzl", "cortex_m_runner")

# A test runs in the runfiles of its workspace. The simulator is stopped a little before Bazel stops the test, so that
# the error says what hung.
_SCRIPT = """#!/bin/sh
export PYTHONPATH=.
exec "{python}" "{main}" --core="{core}" --elf="{elf}" --vectors="{vectors}" {simulator} --timeout="$((${{TEST_TIMEOUT:-300}} - 10))"
"""

def _model_test_impl(ctx):
    vectors = ctx.attr.model[CortexMModelInfo].vectors
    if not vectors:
        fail("%s is a ready-made program: it has no predicted outputs to compare with" % ctx.attr.model.label)
    elf = ctx.file.elf
    files = [ctx.file._python, ctx.file._python_lock, ctx.file._main, elf, vectors]
    simulator = ""
    if ctx.attr.core != "host":
        info = ctx.toolchains[SIMULATOR_TOOLCHAIN_TYPE].simulator
        simulator = "--simulator=" + ("fvp" if info.kind == "fvp" else info.path.short_path)
        files.append(info.path)
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(script, _SCRIPT.format(
        python = ctx.file._python.short_path,
        main = ctx.file._main.short_path,
        core = ctx.attr.core,
        elf = elf.short_path,
        vectors = vectors.short_path,
        simulator = simulator,
    ), is_executable = True)
    runfiles = ctx.runfiles(files = files).merge(ctx.attr._library[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

_model_test = rule(
    implementation = _model_test_impl,
    test = True,
    toolchains = [SIMULATOR_TOOLCHAIN_TYPE],
    attrs = {
        "model": attr.label(mandatory = True, providers = [CortexMModelInfo]),
        "elf": attr.label(mandatory = True, allow_single_file = True),
        "core": attr.string(mandatory = True),
        "_main": attr.label(default = "//cortex_m/test:model_on_device.py", allow_single_file = True),
        "_library": attr.label(default = "//cortex_m/test:model_on_device", providers = [PyInfo]),
        "_python": attr.label(default = "@pypi//:python", allow_single_file = True),
        "_python_lock": attr.label(default = "@pypi//:lock_hash", allow_single_file = True),
    },
)

def cortex_m_test(name, model, cores = ["cortex_m55"], runner = None, portable = False, tags = [], visibility = None, **kwargs):
    """Declares a test for each core, NAME_CORE, and the suite NAME of them all.

    Each builds the model's runner for the core, runs it on the core's board with the model's example inputs, and compares
    all outputs with what the exporter predicted.

    Args:
      name: of the test_suite.
      model: label of a cortex_m_model.
      cores: platforms of //platforms, "cortex_m55", and "host" for the same runtime and kernels on this machine.
      runner: label of the model's cortex_m_runner; one is made if not given.
      portable: as of cortex_m_runner, for the runner that is made.
      tags: of the tests.
      visibility: of the suite.
      **kwargs: other attributes of the tests, such as size and timeout.
    """
    if runner == None:
        runner = name + "_runner"
        cortex_m_runner(name = runner, model = model, portable = portable, tags = ["manual"])
    for core in cores:
        elf = runner
        if core != "host":
            elf = "%s_%s_elf" % (name, core)
            device_binary(name = elf, binary = runner, core = core, tags = ["manual"], testonly = True)
        _model_test(
            name = "%s_%s" % (name, core),
            model = model,
            elf = elf,
            core = core,
            tags = tags,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = ["%s_%s" % (name, core) for core in cores],
        visibility = visibility,
    )
