"""operator_records: the operators' records as a table for the runtime's verifier, by cortex_m/ops/records.py."""

load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

def _operator_records_impl(ctx):
    run_python(
        ctx,
        main = ctx.file._records,
        deps = [ctx.attr._records_library],
        outputs = [ctx.outputs.out],
        arguments = [ctx.outputs.out.path],
        mnemonic = "CortexMOperatorRecords",
        progress_message = "Generating %s" % ctx.outputs.out.short_path,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

operator_records = rule(
    implementation = _operator_records_impl,
    attrs = dict(PYTHON_ATTRS, **{
        "out": attr.output(mandatory = True),
        "_records": attr.label(default = "//cortex_m/ops:records.py", allow_single_file = True),
        "_records_library": attr.label(default = "//cortex_m/ops:records", providers = [PyInfo]),
    }),
)
