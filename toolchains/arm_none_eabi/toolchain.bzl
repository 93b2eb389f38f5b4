"""One cc_toolchain a core, each with the flags of the table of cores."""

load("//cortex_m:cores.bzl", "CORES")
load(":cc_toolchain_config.bzl", "cc_toolchain_config")

def arm_none_eabi_toolchains(files, include_directories, prefix, version):
    """Declares a cc_toolchain named like its platform for each core; called from @arm_none_eabi.

    Args:
      files: label of everything that a compilation or a link runs.
      include_directories: folders of headers that come with the compiler.
      prefix: folder that the compiler is installed under.
      version: the compiler's version.
    """
    for name, core in CORES.items():
        cc_toolchain_config(
            name = name + "_config",
            core_flags = core["flags"],
            cpu = name,
            include_directories = include_directories,
            prefix = prefix,
            version = version,
        )
        native.cc_toolchain(
            name = name,
            all_files = files,
            ar_files = files,
            as_files = files,
            compiler_files = files,
            dwp_files = files,
            linker_files = files,
            objcopy_files = files,
            strip_files = files,
            supports_param_files = True,
            toolchain_config = name + "_config",
            toolchain_identifier = "arm_none_eabi_" + name,
        )

def register_toolchain_targets():
    """Declares a toolchain() a core. They name the compiler's repository, which is fetched when one of them is chosen."""
    for name in CORES:
        native.toolchain(
            name = name,
            exec_compatible_with = ["@platforms//os:linux"],
            target_compatible_with = ["//platforms/core:" + name],
            toolchain = "@arm_none_eabi//:" + name,
            toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
        )
