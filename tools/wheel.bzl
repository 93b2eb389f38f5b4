"""python_wheel: the package cortex_m as a file for pip."""

load("//cortex_m:version.bzl", "VERSION")
load("//cortex_m/rules:python_action.bzl", "PYTHON_ATTRS", "run_python")

def _python_wheel_impl(ctx):
    wheel = ctx.actions.declare_file("cortex_m-%s-py3-none-linux_x86_64.whl" % VERSION)
    sources = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps])
    data = depset(transitive = [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])

    # Of the packages of other repositories, pip installs its own.
    files = {
        file.short_path: file
        for file in sources.to_list() + data.to_list()
        if file.short_path.startswith("cortex_m/")
    }
    run_python(
        ctx,
        main = ctx.file._wheel,
        deps = [],
        inputs = files.values() + [ctx.file._requirements, ctx.file._readme],
        outputs = [wheel],
        arguments = [
            "--wheel=" + wheel.path,
            "--version=" + VERSION,
            "--requirements=" + ctx.file._requirements.path,
            "--readme=" + ctx.file._readme.path,
        ] + [files[path].path for path in sorted(files)],
        mnemonic = "PythonWheel",
        progress_message = "Packing %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([wheel]), runfiles = ctx.runfiles([wheel]))]

python_wheel = rule(
    implementation = _python_wheel_impl,
    doc = "All files of cortex_m that `deps` need, as a wheel with the version of //cortex_m:version.bzl.",
    attrs = dict(PYTHON_ATTRS, **{
        "deps": attr.label_list(providers = [PyInfo]),
        "_wheel": attr.label(default = "//tools:wheel.py", allow_single_file = True),
        "_requirements": attr.label(default = "//third_party/pypi:requirements.in", allow_single_file = True),
        "_readme": attr.label(default = "//:README.md", allow_single_file = True),
    }),
)
