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

def _all_kernels_impl(ctx):
    available = ctx.outputs.available
    table = ctx.outputs.table
    kernel_table_action(ctx, ["--available=" + available.path], [], [available])
    kernel_table_action(ctx, ["--available=" + ctx.outputs.own.path, "--noportable"], [], [ctx.outputs.own])
    kernel_table_action(ctx, ["--operators=" + available.path, "--table=" + table.path], [available], [table])
    return [DefaultInfo(files = depset([available, ctx.outputs.own, table]))]

all_kernels = rule(
    implementation = _all_kernels_impl,
    doc = "Every operator there is a kernel for: the lists of their names, and the table of all.",
    attrs = dict(
        KERNEL_TABLE_ATTRS,
        available = attr.output(mandatory = True),
        own = attr.output(mandatory = True, doc = "The names of cortex_m's own operators."),
        table = attr.output(mandatory = True),
    ),
)
