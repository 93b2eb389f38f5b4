"""@cmsis_nn: Arm's CMSIS-NN, at the commit that ExecuTorch 1.5 pins, or the copy in $CMSIS_NN_PATH.

It stands behind //third_party/cmsis_nn:library. Nothing fetches it unless that flag names it, so the default build and
all tests do without it, and without a network.
"""

_COMMIT = "dbf45dbfcc515421dd6099037d3e2637b90748c8"

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "cmsis_nn",
    # The functions for floats want types that the library does not bring; nothing here calls them.
    srcs = glob(
        ["Source/**/*.c"],
        exclude = [
            "Source/**/*_f16.c",
            "Source/**/*_f32.c",
            "Source/**/*_flt.c",
        ],
    ),
    hdrs = glob(["Include/**/*.h"]),
    includes = ["Include"],
)
"""

def _cmsis_nn_repository_impl(ctx):
    local = ctx.os.environ.get("CMSIS_NN_PATH")
    if not local:
        ctx.report_progress("downloading CMSIS-NN")
        ctx.download_and_extract(
            url = "https://github.com/ARM-software/CMSIS-NN/archive/%s.tar.gz" % _COMMIT,
            stripPrefix = "CMSIS-NN-" + _COMMIT,
        )
    elif not ctx.path(local + "/Include/arm_nnfunctions.h").exists:
        fail("$CMSIS_NN_PATH is %s, a folder that holds no Include/arm_nnfunctions.h." % local)
    else:
        for folder in ["Include", "Source"]:
            ctx.symlink(local + "/" + folder, folder)
    ctx.file("BUILD.bazel", _BUILD, executable = False)

cmsis_nn_repository = repository_rule(
    implementation = _cmsis_nn_repository_impl,
    environ = ["CMSIS_NN_PATH"],
    doc = "CMSIS-NN as one library, @cmsis_nn//:cmsis_nn.",
)
