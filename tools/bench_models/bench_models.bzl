"""`bench_models`: the networks of //tools:bench, exported in one action and linked into a runner for each core."""

load("//cortex_m:defs.bzl", "cortex_m_elf", "cortex_m_program", "cortex_m_runner")
load("//cortex_m/rules:exporter.bzl", "TRANSITION_ATTRS", "to_exporter")
load("//cortex_m/rules:python_action.bzl", "PYTHON_ATTRS", "run_python")

def _bench_export_impl(ctx):
    run_python(
        ctx,
        main = ctx.file._main,
        deps = ctx.attr.deps,
        inputs = [ctx.file._nn_library],
        outputs = ctx.outputs.outs,
        arguments = ["--folder=" + ctx.outputs.outs[0].dirname, "--cores=" + ",".join(ctx.attr.cores)],
        env = {"CORTEX_M_NN_LIBRARY": ctx.file._nn_library.path, "OMP_NUM_THREADS": "1"},
        mnemonic = "CortexMBenchExport",
        progress_message = "Exporting the networks of the bench for %d cores" % len(ctx.attr.cores),
    )

_bench_export = rule(
    implementation = _bench_export_impl,
    doc = "What export.py writes.",
    attrs = dict(PYTHON_ATTRS, **{
        "cores": attr.string_list(),
        "outs": attr.output_list(),
        "deps": attr.label_list(providers = [PyInfo]),
        "_main": attr.label(default = "//tools/bench_models:export.py", allow_single_file = True),
        "_nn_library": attr.label(default = "//cortex_m/nn:libcortex_m_nn.so", allow_single_file = True),
    }),
)

def _exported_impl(ctx):
    return [DefaultInfo(files = depset(ctx.files.srcs))]

_exported = rule(
    implementation = _exported_impl,
    doc = "The same files in every configuration: the export does not depend on it.",
    attrs = dict(TRANSITION_ATTRS, srcs = attr.label_list(allow_files = True, cfg = to_exporter)),
)

def bench_models(name, networks, cores, deps):
    """Declares NAME: for each network an input, NETWORK.bin, and for each core an ELF, NETWORK_CORE.elf.

    Args:
      name: of the filegroup with all of them.
      networks: names in export.py.
      cores: "m55" and so on.
      deps: of export.py.
    """
    private = dict(tags = ["manual"], visibility = ["//visibility:private"])
    inputs = [network + ".bin" for network in networks]
    programs = ["%s_%s.pte" % (network, core) for network in networks for core in cores]
    _bench_export(name = name + "_export", cores = cores, outs = inputs + programs, deps = deps, **private)
    _exported(name = name + "_inputs", srcs = inputs, **private)
    elves = []
    for network in networks:
        for core in cores:
            each = "%s_%s" % (network, core)
            cortex_m_program(name = each + "_program", program = each + ".pte", **private)
            cortex_m_runner(name = each + "_runner", model = each + "_program", **private)
            cortex_m_elf(name = each, binary = each + "_runner", core = "cortex_" + core, **private)
            elves.append(each)
    native.filegroup(name = name, srcs = elves + [name + "_inputs"], visibility = ["//tools:__pkg__"])
