"""portable_codegen: a file that codegen.py writes."""

load("//cortex_m/rules:python_action.bzl", "PYTHON_ATTRS", "run_python")

def _portable_codegen_impl(ctx):
    run_python(
        ctx,
        main = ctx.file._codegen,
        deps = [ctx.attr._codegen_library],
        outputs = [ctx.outputs.out],
        arguments = [ctx.attr.what, ctx.outputs.out.path] + ctx.attr.operators,
        mnemonic = "CortexMPortableCodegen",
        progress_message = "Generating %s" % ctx.outputs.out.short_path,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

portable_codegen = rule(
    implementation = _portable_codegen_impl,
    attrs = dict(PYTHON_ATTRS, **{
        "what": attr.string(mandatory = True, values = ["declarations", "document", "table"]),
        "operators": attr.string_list(doc = "For a table: names as in a program; all if empty."),
        "out": attr.output(mandatory = True),
        "_codegen": attr.label(default = "//cortex_m/portable:codegen.py", allow_single_file = True),
        "_codegen_library": attr.label(default = "//cortex_m/portable:codegen", providers = [PyInfo]),
    }),
)
