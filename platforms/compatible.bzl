"""Values for `target_compatible_with`, so that `bazel build //...` works on every platform.

    load("//platforms:compatible.bzl", "DEVICE_ONLY", "HOST_ONLY")
    cc_library(name = "startup", target_compatible_with = DEVICE_ONLY, ...)
"""

# For what runs on the machine that builds: tools, tests.
HOST_ONLY = [Label("//platforms/core:host")]

# For what exists on a Cortex-M alone: startup code, linker scripts' ELFs.
DEVICE_ONLY = select({
    str(Label("//platforms/core:host")): [Label("//platforms:incompatible")],
    "//conditions:default": [],
})
