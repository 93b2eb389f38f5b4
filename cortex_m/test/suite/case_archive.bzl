"""`case_archive`: the file with all cases of the suites, made once for all cores."""

load("//cortex_m/rules:python_action.bzl", "PYTHON_ATTRS", "run_python")

def _case_archive_impl(ctx):
    archive = ctx.actions.declare_file(ctx.label.name + ".zip")
    run_python(
        ctx,
        main = ctx.file.main,
        deps = ctx.attr.deps,
        arguments = [archive.path],
        outputs = [archive],
        inputs = [ctx.file._nn_library],
        env = {"CORTEX_M_NN_LIBRARY": ctx.file._nn_library.path, "OMP_NUM_THREADS": "1"},
        mnemonic = "CaseArchive",
        progress_message = "Making the cases of %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([archive]), runfiles = ctx.runfiles([archive]))]

case_archive = rule(
    implementation = _case_archive_impl,
    attrs = dict(
        PYTHON_ATTRS,
        deps = attr.label_list(providers = [PyInfo]),
        main = attr.label(allow_single_file = [".py"], mandatory = True),
        _nn_library = attr.label(default = "//cortex_m/nn:libcortex_m_nn.so", allow_single_file = True),
    ),
    doc = """Runs `main NAME.zip`.

    case_archive(name = "cases", main = "write_archive.py", deps = [":suite"])""",
)
