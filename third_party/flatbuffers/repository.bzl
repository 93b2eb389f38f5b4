"""@flatbuffers: compiler and C++ headers of Debian's flatbuffers packages, which belong together."""

load("//third_party:debian.bzl", "need_folder", "need_program")

# The headers alone in an include folder: beside them in /usr/include lie the host's C headers, which a cross compiler must not see.
_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "flatbuffers",
    hdrs = glob(["include/flatbuffers/**/*.h"]),
    includes = ["include"],
)

filegroup(
    name = "flatc",
    srcs = ["bin/flatc"],
)
"""

def _flatbuffers_repository_impl(ctx):
    flatc = need_program(ctx, "flatc", "flatbuffers-compiler", "flatbuffers' schema compiler")
    headers = need_folder(ctx, "/usr/include/flatbuffers", "libflatbuffers-dev", "flatbuffers' C++ headers")
    ctx.symlink(flatc, "bin/flatc")
    ctx.symlink(headers, "include/flatbuffers")
    ctx.file("BUILD.bazel", _BUILD, executable = False)

flatbuffers_repository = repository_rule(
    implementation = _flatbuffers_repository_impl,
    environ = ["PATH"],
    doc = "Serves :flatbuffers (headers) and :flatc.",
)
