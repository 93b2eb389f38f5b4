"""The table of kernels that a runner links: cortex_m/runner/kernel_table.py as a build action."""

load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

KERNEL_TABLE_ATTRS = dict(PYTHON_ATTRS, **{
    "_kernel_table": attr.label(default = "//cortex_m/runner:kernel_table.py", allow_single_file = True),
    "_kernel_table_library": attr.label(default = "//cortex_m/runner:kernel_table", providers = [PyInfo]),
})

def kernel_table_action(ctx, arguments, inputs, outputs):
    """Declares a run of kernel_table.py.

    Args:
      ctx: of a rule that has KERNEL_TABLE_ATTRS.
      arguments: list of strings.
      inputs: list of Files.
      outputs: list of Files.
    """
    run_python(
        ctx,
        main = ctx.file._kernel_table,
        deps = [ctx.attr._kernel_table_library],
        inputs = inputs,
        outputs = outputs,
        arguments = arguments,
        mnemonic = "CortexMKernelTable",
        progress_message = "Selecting kernels for %s" % ctx.label,
    )

def _kernel_set_impl(ctx):
    names = ctx.outputs.names
    table = ctx.outputs.table
    portable = ["--portable=" + ",".join(ctx.attr.portable)] if ctx.attr.portable else []
    kernel_table_action(ctx, ["--available=" + names.path] + portable, [], [names])
    kernel_table_action(ctx, ["--operators=" + names.path, "--table=" + table.path], [names], [table])
    return [DefaultInfo(files = depset([names, table]))]

kernel_set = rule(
    implementation = _kernel_set_impl,
    doc = "The operators of cortex_m and of some files of cortex_m/portable: the list of their names, and their table.",
    attrs = dict(
        KERNEL_TABLE_ATTRS,
        names = attr.output(mandatory = True),
        table = attr.output(mandatory = True),
        portable = attr.string_list(doc = "Files of //cortex_m/portable, without .cc."),
    ),
)
