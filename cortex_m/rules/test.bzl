"""cortex_m_test: a model on simulated cores, compared with its prediction bit for bit, within its budgets."""

load("//cortex_m:cores.bzl", "CORES", "platform_of")
load("//toolchains/simulator:toolchain.bzl", "SIMULATOR_TOOLCHAIN_TYPE")
load(":device_binary.bzl", "device_binary")
load(":model.bzl", "CortexMModelInfo")
load(":program_info.bzl", "PROGRAM_INFO_ATTRS", "program_info")
load(":runner.bzl", "cortex_m_runner")

# A test runs in the runfiles of its workspace. The simulator is stopped a little before Bazel stops the test, so that
# the error says what hung.
_SCRIPT = """#!/bin/sh
export PYTHONPATH={root}
exec {command} --timeout="$((${{TEST_TIMEOUT:-300}} - 10))" "$@"
"""

# As an argument of the tests, which thereby also write what they measured.
_RECORD_SCRIPT = """#!/bin/sh
set -e
if [ -z "${{BUILD_WORKSPACE_DIRECTORY:-}}" ]; then
  echo "error: the baseline is a file of the workspace: {label} is for bazel run" >&2
  exit 1
fi
for test in {tests}; do
  "$test" --record="$BUILD_WORKSPACE_DIRECTORY/"{baseline} --record_cores={cores}
done
echo "wrote "{baseline}
"""

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _python_root(main):
    """The folder in the runfiles that the imports of `main` begin at: its workspace."""
    return "../" + main.owner.workspace_name if main.owner.workspace_name else "."

def _check_host(ctx):
    for budget in ["max_flash_bytes", "max_ram_bytes", "max_instructions"]:
        if getattr(ctx.attr, budget):
            fail(("%s of %s is a budget of a board, and \"host\" is among its cores, where nothing has that figure: " +
                  "give it by core, {\"cortex_m55\": %d}") % (budget, ctx.label, getattr(ctx.attr, budget)))

def _model_test_impl(ctx):
    model = ctx.attr.model[CortexMModelInfo]
    vectors = model.vectors
    if ctx.files.inputs or ctx.files.expected:
        if not ctx.files.inputs or not ctx.files.expected:
            fail("%s needs both inputs and expected: without one there is nothing to compare" % ctx.label)
    elif not vectors:
        fail("%s is a ready-made program: it has no predicted outputs to compare with; give inputs and expected" %
             ctx.attr.model.label)
    info = program_info(ctx, model.program, ctx.label.name + ".program_info.json")
    elf = ctx.file.elf
    files = [ctx.file._python, ctx.file._python_lock, ctx.file._main, elf, info] + ctx.files.inputs + ctx.files.expected
    arguments = ["--core=" + ctx.attr.core, "--elf=" + elf.short_path, "--program_info=" + info.short_path]
    if ctx.files.inputs:
        arguments += ["--input=" + file.short_path for file in ctx.files.inputs]
        arguments += ["--expected=" + file.short_path for file in ctx.files.expected]
    else:
        arguments.append("--vectors=" + vectors.short_path)
        files.append(vectors)
    if model.report:
        arguments.append("--report=" + model.report.short_path)
        files.append(model.report)
    if ctx.attr.core == "host":
        _check_host(ctx)
    else:
        simulator = ctx.toolchains[SIMULATOR_TOOLCHAIN_TYPE].simulator
        arguments.append("--simulator=" + ("fvp" if simulator.kind == "fvp" else simulator.path.short_path))
        files.append(simulator.path)
        if ctx.attr.baseline_path:
            arguments.append("--baseline=" + (ctx.file.baseline.short_path if ctx.file.baseline else ctx.attr.baseline_path))
        if ctx.file.baseline:
            files.append(ctx.file.baseline)
        arguments.append("--how_to_record=" + ctx.attr.how_to_record)
    if ctx.attr.part:
        arguments += ["--part=" + ctx.attr.part, "--part_cores=" + ",".join(ctx.attr.part_cores)]
    for budget in ["max_flash_bytes", "max_ram_bytes", "max_instructions", "min_sqnr_db", "min_top1_agreement"]:
        if getattr(ctx.attr, budget):
            arguments.append("--%s=%s" % (budget, getattr(ctx.attr, budget)))
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(script, _SCRIPT.format(
        root = _python_root(ctx.file._main),
        command = " ".join([_quote(word) for word in [ctx.file._python.short_path, ctx.file._main.short_path] + arguments]),
    ), is_executable = True)
    runfiles = ctx.runfiles(files = files).merge(ctx.attr._library[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

_model_test = rule(
    implementation = _model_test_impl,
    test = True,
    toolchains = [SIMULATOR_TOOLCHAIN_TYPE],
    attrs = dict(PROGRAM_INFO_ATTRS, **{
        "model": attr.label(mandatory = True, providers = [CortexMModelInfo]),
        "elf": attr.label(mandatory = True, allow_single_file = True),
        "core": attr.string(mandatory = True),
        "inputs": attr.label_list(allow_files = [".npy"]),
        "expected": attr.label_list(allow_files = [".npy"]),
        "part": attr.string(),
        "part_cores": attr.string_list(doc = "All cores that the model is tested on."),
        "max_flash_bytes": attr.int(),
        "max_ram_bytes": attr.int(),
        "max_instructions": attr.int(),
        "min_sqnr_db": attr.string(doc = "A number: Bazel 4 has no attributes for floats."),
        "min_top1_agreement": attr.string(),
        "baseline": attr.label(allow_single_file = [".json"]),
        "baseline_path": attr.string(doc = "Where the baseline is or will be, from the root of the workspace."),
        "how_to_record": attr.string(),
        "_main": attr.label(default = "//cortex_m/test:model_on_device.py", allow_single_file = True),
        "_library": attr.label(default = "//cortex_m/test:model_on_device", providers = [PyInfo]),
        "_python": attr.label(default = "@pypi//:python", allow_single_file = True),
        "_python_lock": attr.label(default = "@pypi//:lock_hash", allow_single_file = True),
    }),
)

def _record_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(script, _RECORD_SCRIPT.format(
        label = ctx.label,
        tests = " ".join([_quote("./" + test[DefaultInfo].files_to_run.executable.short_path) for test in ctx.attr.tests]),
        baseline = _quote(ctx.attr.baseline_path),
        cores = _quote(",".join(ctx.attr.cores)),
    ), is_executable = True)
    runfiles = ctx.runfiles()
    for test in ctx.attr.tests:
        runfiles = runfiles.merge(test[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

_record = rule(
    implementation = _record_impl,
    executable = True,
    attrs = {
        "tests": attr.label_list(mandatory = True, allow_empty = False),
        "cores": attr.string_list(),
        "baseline_path": attr.string(),
    },
)

def _of_core(name, attribute, value, core, cores):
    """The budget of a core: `value` is one for all cores, or a dict by core."""
    if type(value) == type({}):
        value = {platform_of(key): budget for key, budget in value.items()}
        for key in value:
            if key not in cores:
                fail("%s of cortex_m_test %s names %s, which is not among its cores, %s" %
                     (attribute, name, key, ", ".join(cores)))
        value = value.get(core)
    if value != None and attribute.startswith("max_") and value <= 0:  # 0 is "none given" to the rule
        fail("%s of cortex_m_test %s is %d; it must be above zero" % (attribute, name, value))
    return value

def cortex_m_test(
        name,
        model,
        cores = ["cortex_m55"],
        runner = None,
        portable = False,
        inputs = [],
        expected = [],
        part = None,
        max_flash_bytes = None,
        max_ram_bytes = None,
        max_instructions = None,
        min_sqnr_db = None,
        min_top1_agreement = None,
        baseline = None,
        tags = [],
        visibility = None,
        **kwargs):
    """Declares a test for each core, NAME_CORE, and the suite NAME of them all.

    Each builds the model's runner for the core, runs it on the core's board with the model's example inputs and the
    `evaluation` calls of its ModelSource, and compares all outputs with what the exporter predicted. It prints one line of
    figures. What is over its budget fails the test, with a table of where the figure comes from (flash by section and symbol,
    RAM by its uses, instructions layer by layer) beside the recorded baseline.

    A budget is one number for all cores or a dict by core, {"cortex_m55": 60000, "cortex_m4": 56000}.

    Args:
      name: of the test_suite.
      model: label of a cortex_m_model; a cortex_m_program needs `inputs` and `expected`.
      cores: platforms of //platforms, "cortex_m55" or "cortex-m55", and "host" for the same runtime and kernels on this machine.
      runner: label of the model's cortex_m_runner; one is made if not given.
      portable: as of cortex_m_runner, for the runner that is made.
      inputs: .npy files, one for each input of the program, in place of the model's own samples: of the input's shape and
        dtype, or with a dimension of samples in front.
      expected: .npy files, one for each output: what the program must give, bit for bit. With a budget of accuracy they are
        instead the float values that the accuracy is judged by.
      part: name of a microcontroller in cortex_m/parts/parts.yaml, "stm32l4r5zi", that the model must fit into, code, stack and data
        of the runner included. Its core must be one of `cores`; the tests of the others do without.
      max_flash_bytes: most bytes of flash of the runner: code, constants, model, initial values of data. The runner of
        a test can read files and print, which a firmware with a cortex_m_library leaves out. Not for "host".
      max_ram_bytes: most bytes of RAM of the runner: arena, data, and the stack as deep as it was used. Not for "host".
      max_instructions: most instructions of an inference, of any sample. Instructions are not cycles. Not for "host".
      min_sqnr_db: least signal to quantization noise ratio over all samples, in dB, of each output against the float model.
      min_top1_agreement: least part of the samples, 0 to 1, in which the largest channel of the first output is the float
        model's.
      baseline: name of a JSON file in this package with recorded figures. `bazel run //PACKAGE:NAME_record` writes it; commit
        it. Not for "host".
      tags: of the tests.
      visibility: of the suite.
      **kwargs: other attributes of the tests, such as size and timeout.
    """
    cores = [platform_of(core) for core in cores]
    for core in cores:
        if core != "host" and core not in CORES:
            fail("cortex_m_test %s: there is no core %s; there are %s, and host" % (name, core, ", ".join(CORES.keys())))
    package = native.package_name()
    record = "bazel run //%s:%s_record" % (package, name)
    baseline_path, present = "", []
    if baseline == None:
        how = "add baseline = \"%s_baseline.json\" to cortex_m_test %s, then run `%s`" % (name, name, record)
    else:
        if ":" in baseline or "/" in baseline or not baseline.endswith(".json"):
            fail("cortex_m_test %s: baseline is %s; it is the name of a .json file in this package" % (name, baseline))
        how = "`%s` records it" % record
        baseline_path = "%s/%s" % (package, baseline) if package else baseline
        present = native.glob([baseline])
    if runner == None:
        runner = name + "_runner"
        cortex_m_runner(name = runner, model = model, portable = portable, tags = ["manual"])
    for core in cores:
        elf = runner
        if core != "host":
            elf = "%s_%s_elf" % (name, core)
            device_binary(name = elf, binary = runner, core = core, tags = ["manual"], testonly = True)
        budgets = {
            attribute: _of_core(name, attribute, value, core, cores)
            for attribute, value in {
                "max_flash_bytes": max_flash_bytes,
                "max_ram_bytes": max_ram_bytes,
                "max_instructions": max_instructions,
                "min_sqnr_db": min_sqnr_db,
                "min_top1_agreement": min_top1_agreement,
            }.items()
        }
        for attribute in ["min_sqnr_db", "min_top1_agreement"]:
            if budgets[attribute] != None:
                budgets[attribute] = str(budgets[attribute])
        _model_test(
            name = "%s_%s" % (name, core),
            model = model,
            elf = elf,
            core = core,
            inputs = inputs,
            expected = expected,
            baseline = present[0] if present else None,
            baseline_path = baseline_path,
            how_to_record = how,
            part = part,
            part_cores = cores,
            tags = tags,
            **dict(budgets, **kwargs)
        )
    boards = [core for core in cores if core != "host"]
    if baseline and boards:
        _record(
            name = name + "_record",
            tests = ["%s_%s" % (name, core) for core in boards],
            cores = boards,
            baseline_path = baseline_path,
            tags = ["manual"],
            testonly = True,
        )
    native.test_suite(
        name = name,
        tests = ["%s_%s" % (name, core) for core in cores],
        tags = ["manual"] if "manual" in tags else [],
        visibility = visibility,
    )
