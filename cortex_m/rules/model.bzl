"""cortex_m_model: a PyTorch model, exported to a .pte by a cacheable action."""

load(":exporter.bzl", "TRANSITION_ATTRS", "to_exporter")
load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

CortexMModelInfo = provider(
    doc = "An exported model.",
    fields = {
        "program": "File, the .pte",
        "report": "File, JSON: target, layers, what was left in float and why; None for a ready-made .pte",
        "vectors": "File, a folder of inputs and the outputs they must give, with vectors.json; None for a ready-made .pte",
        "target": "string, the core it was exported for, or any; None for a ready-made .pte, which may say it itself",
    },
)

def _export_impl(ctx):
    name = ctx.attr.output
    program = ctx.actions.declare_file(name + ".pte")
    report_text = ctx.actions.declare_file(name + ".report.txt")
    report = ctx.actions.declare_file(name + ".report.json")
    vectors = ctx.actions.declare_directory(name + ".vectors")
    module = ctx.file.module
    calibration = ctx.files.calibration
    if module.extension == "pt2":
        if ctx.attr.deps or ctx.attr.data:
            fail("%s: a .pt2 imports nothing and reads nothing: deps and data are for a .py" % ctx.attr.output)
        model = "--pt2=" + module.path
    else:
        model = "--entry=%s:%s" % (module.path, ctx.attr.entry)
    run_python(
        ctx,
        main = ctx.file._export,
        deps = ctx.attr.deps + [ctx.attr._export_library],
        inputs = [module, ctx.file._host_library, ctx.file._nn_library] + ctx.files.data + calibration,
        outputs = [program, report_text, report, vectors],
        arguments = [
            model,
            "--target=" + ctx.attr.target,
            "--portable_program=" + ("true" if ctx.attr.portable_program else "false"),
            "--strict=" + ("true" if ctx.attr.strict else "false"),
            "--allow_fallback=" + ",".join(ctx.attr.allow_fallback),
            "--quantize_io=" + ("true" if ctx.attr.quantize_io else "false"),
            "--sqnr_floor_db=" + ctx.attr.sqnr_floor_db,
            "--program=" + program.path,
            "--report=" + report_text.path,
            "--report_json=" + report.path,
            "--vectors=" + vectors.path,
            "--progress=false",
        ] + ["--calibration=" + file.path for file in calibration],
        env = {
            "CORTEX_M_HOST_LIBRARY": ctx.file._host_library.path,
            "CORTEX_M_NN_LIBRARY": ctx.file._nn_library.path,
            "OMP_NUM_THREADS": "1",
        },
        mnemonic = "CortexMExport",
        progress_message = "Exporting %s for %s" % (ctx.label, ctx.attr.target),
    )
    return [
        DefaultInfo(files = depset([program])),
        OutputGroupInfo(report = depset([report_text, report]), vectors = depset([vectors])),
        CortexMModelInfo(program = program, report = report, vectors = vectors, target = ctx.attr.target),
    ]

_export = rule(
    implementation = _export_impl,
    attrs = dict(PYTHON_ATTRS, **{
        "output": attr.string(mandatory = True),
        "module": attr.label(allow_single_file = [".py", ".pt2"], mandatory = True),
        "calibration": attr.label(allow_single_file = [".npy", ".npz"]),
        "entry": attr.string(),
        "deps": attr.label_list(providers = [PyInfo]),
        "data": attr.label_list(allow_files = True),
        "target": attr.string(),
        "portable_program": attr.bool(),
        "strict": attr.bool(),
        "allow_fallback": attr.string_list(),
        "quantize_io": attr.bool(),
        "sqnr_floor_db": attr.string(doc = "A number: Bazel 4 has no attributes for floats."),
        "_export": attr.label(default = "//tools:export.py", allow_single_file = True),
        "_export_library": attr.label(default = "//cortex_m", providers = [PyInfo]),
        "_host_library": attr.label(default = "//cortex_m/host:libcortex_m_host.so", allow_single_file = True),
        "_nn_library": attr.label(default = "//cortex_m/nn:libcortex_m_nn.so", allow_single_file = True),
    }),
)

def _model_impl(ctx):
    export = ctx.attr.export[0]
    model = export[CortexMModelInfo]
    return [
        # Made anew: Bazel 4 forgets the runfiles of a DefaultInfo that is passed on.
        DefaultInfo(files = depset([model.program]), runfiles = ctx.runfiles([model.program])),
        export[OutputGroupInfo],
        model,
    ]

_model = rule(
    implementation = _model_impl,
    attrs = dict(
        TRANSITION_ATTRS,
        export = attr.label(mandatory = True, cfg = to_exporter, providers = [CortexMModelInfo]),
    ),
)

def cortex_m_model(
        name,
        module,
        entry = "model",
        deps = [],
        data = [],
        calibration = None,
        target = "any",
        portable_program = False,
        strict = True,
        allow_fallback = [],
        quantize_io = True,
        sqnr_floor_db = None,
        visibility = None,
        tags = [],
        testonly = False):
    """Exports a PyTorch model: quantize, lower, serialise, predict.

    Outputs NAME.pte; with --output_groups=report also NAME.report.txt and NAME.report.json; with --output_groups=vectors
    the folder NAME.vectors with the example inputs and the outputs that every core must give for them, bit for bit.

    Args:
      name: of the model.
      module: Python file with the entry function; or a .pt2, what torch.export.save wrote, with its example inputs. torch unpickles
        parts of a .pt2: build only those you trust.
      entry: function without arguments that returns a cortex_m.ModelSource or (module, example_inputs).
      deps: py_library targets that the module imports.
      data: files that the module reads, from the source tree or made by the build (weights, say): in the package
        nets/digits, importlib.resources.files("nets.digits").joinpath("weights.pt") finds them.
      calibration: samples that set the value ranges, where the module brings none: a .npy [N, ...] for a model of one input, or a
        .npz of np.savez with an array for each input, in order. Without samples the example inputs alone set them.
      target: "any", or a core, "cortex-m0" to "cortex-m85": then a build for a core with another instruction set fails,
        and weights are packed for that core's kernels where they gain by it.
      portable_program: with a core as target: no packed weights, but plain operators alone.
      strict: fail if an operator would run in float; the error names node, reason and source line.
      allow_fallback: operators that may with strict = True, as the error names them, "aten::cumsum"; one that did not have to is an
        error too. The model's cortex_m_runner says portable = True then.
      quantize_io: False makes a program that takes and gives int8 tensors; their scales and zero points are in the
        reports, under "inputs" and "outputs" of NAME.report.json.
      sqnr_floor_db: an output whose signal to quantization noise ratio is lower, in dB, fails the build; the error names the layers that
        lose most. Over the samples of the source's `evaluation`, or without those over some that it was calibrated with. What the
        source says where it is None, 10 in general; a cortex_m_test has a budget of its own, min_sqnr_db.
      visibility: of the model.
      tags: of the model.
      testonly: of the model.
    """
    _export(
        name = name + "_export",
        output = name,
        module = module,
        entry = entry,
        deps = deps,
        data = data,
        calibration = calibration,
        target = target,
        portable_program = portable_program,
        strict = strict,
        allow_fallback = allow_fallback,
        quantize_io = quantize_io,
        sqnr_floor_db = "" if sqnr_floor_db == None else str(sqnr_floor_db),
        tags = ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    _model(name = name, export = name + "_export", visibility = visibility, tags = tags, testonly = testonly)

def _cortex_m_program_impl(ctx):
    return [
        DefaultInfo(files = depset([ctx.file.program]), runfiles = ctx.runfiles([ctx.file.program])),
        CortexMModelInfo(program = ctx.file.program, report = None, vectors = None, target = None),
    ]

cortex_m_program = rule(
    implementation = _cortex_m_program_impl,
    doc = "A .pte that was made elsewhere, to be given where a cortex_m_model is expected.",
    attrs = dict(
        TRANSITION_ATTRS,
        program = attr.label(allow_single_file = [".pte"], mandatory = True, cfg = to_exporter),
    ),
)
