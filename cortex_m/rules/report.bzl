"""cortex_m_report: what a model costs on each core, what it loses, and what fell back, on one page."""

load("//cortex_m:cores.bzl", "platform_of")
load("//platforms:compatible.bzl", "HOST_ONLY")
load("//toolchains/simulator:toolchain.bzl", "SIMULATOR_TOOLCHAIN_TYPE")
load(":device_binary.bzl", "device_binary")
load(":model.bzl", "CortexMModelInfo")
load(":python_action.bzl", "PYTHON_ATTRS", "run_python")
load(":runner.bzl", "cortex_m_runner")

def _report_impl(ctx):
    model = ctx.attr.model[CortexMModelInfo]
    if not model.report:
        fail(("%s is a ready-made program: nothing is known of the network that it came from. " +
              "`bazel run //tools:inspect` says what is in it") % ctx.attr.model.label)
    html, data, text = [ctx.actions.declare_file(ctx.label.name + extension) for extension in [".html", ".json", ".txt"]]
    simulator = ctx.toolchains[SIMULATOR_TOOLCHAIN_TYPE].simulator
    run_python(
        ctx,
        main = ctx.file._make_report,
        deps = [ctx.attr._report_library],
        inputs = [model.program, model.report, model.vectors, simulator.path] + ctx.files.elves + ctx.files._nn_library,
        outputs = [html, data, text],
        arguments = [
            "--name=%s" % ctx.attr.model.label,
            "--program=" + model.program.path,
            "--report=" + model.report.path,
            "--vectors=" + model.vectors.path,
            "--simulator=" + ("fvp" if simulator.kind == "fvp" else simulator.path.path),
            "--html=" + html.path,
            "--json=" + data.path,
            "--text=" + text.path,
        ] + ["--runner=%s=%s" % (core, elf.path) for core, elf in zip(ctx.attr.cores, ctx.files.elves)],
        env = {"CORTEX_M_NN_LIBRARY": ctx.file._nn_library.path, "OMP_NUM_THREADS": "1"},
        mnemonic = "CortexMReport",
        progress_message = "Measuring %s on %s" % (ctx.attr.model.label, ", ".join(ctx.attr.cores)),
    )
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\nexec cat '%s'\n" % text.short_path, is_executable = True)
    return [
        DefaultInfo(files = depset([html, data, text]), executable = script, runfiles = ctx.runfiles([html, data, text])),
        OutputGroupInfo(html = depset([html]), json = depset([data]), text = depset([text])),
    ]

_report = rule(
    implementation = _report_impl,
    executable = True,
    toolchains = [SIMULATOR_TOOLCHAIN_TYPE],
    attrs = dict(PYTHON_ATTRS, **{
        "model": attr.label(mandatory = True, providers = [CortexMModelInfo]),
        "elves": attr.label_list(mandatory = True, allow_files = [".elf"], doc = "The model's runner for each of `cores`."),
        "cores": attr.string_list(mandatory = True),
        "_make_report": attr.label(default = "//cortex_m/report:make_report.py", allow_single_file = True),
        "_report_library": attr.label(default = "//cortex_m/report", providers = [PyInfo]),
        "_nn_library": attr.label(default = "//cortex_m/nn:libcortex_m_nn.so", allow_single_file = True),
    }),
)

def cortex_m_report(name, model, cores = ["cortex_m55"], runner = None, portable = False, tags = [], visibility = None, testonly = False):
    """Declares the report of a model: it is run on simulated cores, and everything known of it is put on one page.

        cortex_m_report(name = "net_report", model = ":net", cores = ["cortex_m55", "cortex_m4"])
        # bazel build :net_report      net_report.html, net_report.json, net_report.txt
        # bazel run :net_report        the text, in the terminal

    The page needs nothing beside it: layers with shapes, multiply-accumulates, kernels and instructions on each core;
    memory over time; flash by section, use and object file; what fell back and why; accuracy by layer, worst first.

    Args:
      name: of the report.
      model: label of a cortex_m_model.
      cores: platforms of //platforms.
      runner: label of the model's cortex_m_runner; one is made if not given.
      portable: as of cortex_m_runner, for the runner that is made.
      tags: of the report.
      visibility: of the report.
      testonly: of the report.
    """
    cores = [platform_of(core) for core in cores]
    if not cores:
        fail("%s needs at least one core to measure on" % name)
    if "host" in cores:
        fail("%s: the host counts no instructions and has no flash; name cores, \"cortex_m55\"" % name)
    if runner == None:
        runner = name + "_runner"
        cortex_m_runner(name = runner, model = model, portable = portable, tags = ["manual"], testonly = testonly)
    elves = []
    for core in cores:
        elf = "%s_%s_elf" % (name, core)
        device_binary(
            name = elf,
            binary = runner,
            core = core,
            tags = ["manual"],
            testonly = testonly,
        )
        elves.append(elf)
    _report(
        name = name,
        model = model,
        elves = elves,
        cores = cores,
        tags = tags,
        visibility = visibility,
        testonly = testonly,
        target_compatible_with = HOST_ONLY,
    )
