"""cortex_m_model: a PyTorch model, exported to a .pte by a cacheable action."""

load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

CortexMModelInfo = provider(
    doc = "An exported model.",
    fields = {
        "program": "File, the .pte",
        "report": "File, JSON: target, layers, what was left in float and why; None for a ready-made .pte",
        "vectors": "File, a folder of inputs and the outputs they must give, with vectors.json; None for a ready-made .pte",
        "target": "string, the core it was exported for",
    },
)

def _cortex_m_model_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".pte")
    report_text = ctx.actions.declare_file(ctx.label.name + ".report.txt")
    report = ctx.actions.declare_file(ctx.label.name + ".report.json")
    vectors = ctx.actions.declare_directory(ctx.label.name + ".vectors")
    run_python(
        ctx,
        main = ctx.file._export,
        deps = ctx.attr.deps + [ctx.attr._export_library],
        inputs = [ctx.file.module, ctx.file._nn_library] + ctx.files.data,
        outputs = [program, report_text, report, vectors],
        arguments = [
            "--entry=%s:%s" % (ctx.file.module.path, ctx.attr.entry),
            "--target=" + ctx.attr.target,
            "--strict=" + ("true" if ctx.attr.strict else "false"),
            "--program=" + program.path,
            "--report=" + report_text.path,
            "--report_json=" + report.path,
            "--vectors=" + vectors.path,
            "--progress=false",
        ],
        env = {"CORTEX_M_NN_LIBRARY": ctx.file._nn_library.path},
        mnemonic = "CortexMExport",
        progress_message = "Exporting %s for %s" % (ctx.label, ctx.attr.target),
    )
    return [
        DefaultInfo(files = depset([program]), runfiles = ctx.runfiles([program, vectors])),
        OutputGroupInfo(report = depset([report_text, report]), vectors = depset([vectors])),
        CortexMModelInfo(program = program, report = report, vectors = vectors, target = ctx.attr.target),
    ]

cortex_m_model = rule(
    implementation = _cortex_m_model_impl,
    doc = """Exports a PyTorch model: quantize, lower, serialise, predict.

Outputs NAME.pte; with --output_groups=report also NAME.report.txt and NAME.report.json; with --output_groups=vectors
the folder NAME.vectors with the example inputs and the outputs that every core must give for them, bit for bit.""",
    attrs = dict(PYTHON_ATTRS, **{
        "module": attr.label(
            allow_single_file = [".py"],
            mandatory = True,
            doc = "Python file with the entry function.",
        ),
        "entry": attr.string(
            default = "model",
            doc = "Function without arguments that returns a cortex_m.ModelSource or (module, example_inputs).",
        ),
        "deps": attr.label_list(providers = [PyInfo], doc = "Python libraries that the module imports."),
        "data": attr.label_list(allow_files = True, doc = "Files that the module reads."),
        "target": attr.string(default = "cortex-m55", doc = "The core, cortex-m0 to cortex-m85."),
        "strict": attr.bool(default = True, doc = "Fail if an operator would run in float; the error names node and line."),
        "_export": attr.label(default = "//tools:export.py", allow_single_file = True),
        "_export_library": attr.label(default = "//cortex_m", providers = [PyInfo]),
        "_nn_library": attr.label(default = "//cortex_m/nn:libcortex_m_nn.so", allow_single_file = True, cfg = "exec"),
    }),
)

def _cortex_m_program_impl(ctx):
    return [
        DefaultInfo(files = depset([ctx.file.program])),
        CortexMModelInfo(program = ctx.file.program, report = None, vectors = None, target = ctx.attr.target),
    ]

cortex_m_program = rule(
    implementation = _cortex_m_program_impl,
    doc = "A .pte that was made elsewhere, to be given where a cortex_m_model is expected.",
    attrs = {
        "program": attr.label(allow_single_file = [".pte"], mandatory = True),
        "target": attr.string(default = "cortex-m55", doc = "The core it was exported for."),
    },
)
