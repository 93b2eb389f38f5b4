"""Keeps Bazel offline.

Bazel 4 resolves three repositories that it would download from the internet, for rules which it has built in anyway.
Small local repositories serve instead. Bazel 7 wants real rule sets; Debian's brings them as folders.
"""

_CC_RULES = ["cc_binary", "cc_import", "cc_library", "cc_proto_library", "cc_test", "cc_toolchain", "cc_toolchain_suite", "fdo_prefetch_hints", "fdo_profile", "objc_import", "objc_library"]
_JAVA_RULES = ["java_binary", "java_import", "java_library", "java_lite_proto_library", "java_package_configuration", "java_plugin", "java_proto_library", "java_runtime", "java_test", "java_toolchain"]
_COVERAGE_TOOLS = ["coverage_report_generator", "lcov_merger"]

def _reexport(rules):
    return "".join(["%s = native.%s\n" % (rule, rule) for rule in rules])

_FILES = {
    "rules_cc": {
        "BUILD.bazel": "",
        "cc/BUILD.bazel": "",
        "cc/defs.bzl": _reexport(_CC_RULES),
    },
    "rules_java": {
        "BUILD.bazel": "",
        "java/BUILD.bazel": "",
        "java/defs.bzl": _reexport(_JAVA_RULES),
    },
    # Resolved as soon as there is a test, used only by `bazel coverage`.
    "remote_coverage_tools": {
        "BUILD.bazel": "".join(["filegroup(name = \"%s\", visibility = [\"//visibility:public\"])\n" % tool for tool in _COVERAGE_TOOLS]),
    },
}

def _shim_repository_impl(ctx):
    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
    for path, content in ctx.attr.files.items():
        ctx.file(path, content)

_shim_repository = repository_rule(
    implementation = _shim_repository_impl,
    attrs = {"files": attr.string_dict(doc = "Path to content of each file.")},
    doc = "A repository made of the files written here.",
)

def bazel_shims(folders):
    """Declares the repositories that Bazel itself would otherwise download.

    Args:
      folders: names of repositories and the folders that hold them, as @bazel_installation found them.
    """

    # Debian's Bazel 4 has no version string, so its age is told by what it has: this function came with Bazel 6.
    if hasattr(native, "package_relative_label"):
        for name, path in folders.items():
            native.local_repository(name = name, path = path)
    else:
        for name, files in _FILES.items():
            _shim_repository(name = name, files = files)
