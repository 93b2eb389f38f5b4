"""@googletest: the framework of all C++ tests, compiled from the sources in Debian's googletest package."""

load("//third_party:debian.bzl", "need_folder")

_SOURCES = "/usr/src/googletest/googletest"

# For the host alone: a test that depends on it is skipped where a device is built for.
_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "gtest",
    srcs = ["src/gtest-all.cc"],
    hdrs = glob(["include/gtest/**/*.h"]),
    includes = ["include"],
    linkopts = ["-pthread"],
    target_compatible_with = ["@cortex_m_workspace//platforms/core:host"],
    textual_hdrs = glob(["src/*.cc", "src/*.h"]),
)

cc_library(
    name = "gtest_main",
    srcs = ["src/gtest_main.cc"],
    deps = [":gtest"],
)
"""

def _googletest_repository_impl(ctx):
    sources = need_folder(ctx, _SOURCES, "googletest", "the C++ test framework")
    for folder in ["include", "src"]:
        ctx.symlink(sources.get_child(folder), folder)
    ctx.file("BUILD.bazel", _BUILD, executable = False)

googletest_repository = repository_rule(
    implementation = _googletest_repository_impl,
    doc = "Serves :gtest and :gtest_main.",
)
