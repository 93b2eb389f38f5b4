"""How arm-none-eabi-gcc is called: what every compilation and link of device code has in common.

Flags of a core (-mcpu and kin) come from //cortex_m:cores.bzl. What a target needs beyond this file, such as its linker
script, it says itself with `copts`, `linkopts` and `additional_linker_inputs`.

Modes: the default and `-c opt` are -O2, so that numbers measured by default are the numbers of a release; `-c dbg` is
-Og -g. The feature `optimize_size` of a target is -Os; `--features=minimum_size`, for all of a program, is -Os without the
sentences of errors (cortex_m/runtime/status.h).
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "env_entry",
    "env_set",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)

_ASSEMBLE = [ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble]
_COMPILE_CPP = [ACTION_NAMES.cpp_compile, ACTION_NAMES.cpp_header_parsing, ACTION_NAMES.linkstamp_compile]
_COMPILE = [ACTION_NAMES.c_compile] + _COMPILE_CPP
_LINK = [ACTION_NAMES.cpp_link_executable]

# GCC takes $PWD for the name of the current folder where it is one; this name is the same wherever a clone lies.
_HERE = "/proc/self/cwd"

_COMPILE_FLAGS = [
    # One section a function and object, so that the linker drops what a program does not use.
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    # Else headers of a repository that are links would be named by where these lead, which Bazel does not know.
    "-fno-canonical-system-headers",
    # The same bytes in every folder and on every day.
    "-no-canonical-prefixes",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-ffile-prefix-map=" + _HERE + "=.",
]

# Neither unwinding nor type information nor guards around static variables: nothing on the device uses them.
_CPP_FLAGS = [
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-fno-threadsafe-statics",
    # Programs never end, so destructors of static objects need no registration.
    "-fno-use-cxa-atexit",
]

_LINK_FLAGS = [
    "-no-canonical-prefixes",
    # Startup code and system calls are the board's; newlib-nano is the smaller build of the C library.
    "-nostartfiles",
    "--specs=nano.specs",
    "-Wl,--gc-sections",
    "-Wl,--build-id=none",
    # A linker's warning is about code that will not run: say it at once.
    "-Wl,--fatal-warnings",
    # Not that one: code and data in one RAM segment is what boards without flash have.
    "-Wl,--no-warn-rwx-segments",
]

def _flags(actions, flags, when = None, unless = None):
    conditions = []
    if when or unless:
        conditions = [with_feature_set(features = when or [], not_features = unless or [])]
    return flag_set(actions = actions, flag_groups = [flag_group(flags = flags)], with_features = conditions)

def _impl(ctx):
    # Cores without Thumb-2 read assembly in the old syntax unless told otherwise.
    core_flags = ctx.attr.core_flags + ["-mthumb", "-masm-syntax-unified"]
    compile_flags = _COMPILE_FLAGS + ["-ffile-prefix-map=%s=toolchain" % ctx.attr.prefix]
    sizes = ["minimum_size", "optimize_size"]
    features = [
        feature(name = mode)
        for mode in ["dbg", "fastbuild", "opt"] + sizes
    ] + [
        feature(
            name = "default_compile_flags",
            enabled = True,
            env_sets = [env_set(
                actions = _ASSEMBLE + _COMPILE,
                env_entries = [env_entry("PWD", _HERE)],
            )],
            flag_sets = [
                _flags(_ASSEMBLE + _COMPILE, core_flags + compile_flags),
                _flags(_COMPILE_CPP, _CPP_FLAGS),
                _flags(_COMPILE, ["-O2"], unless = ["dbg"] + sizes),
                flag_set(
                    actions = _COMPILE,
                    flag_groups = [flag_group(flags = ["-Os"])],
                    with_features = [with_feature_set(features = [size], not_features = ["dbg"]) for size in sizes],
                ),
                _flags(_COMPILE, ["-DCORTEX_M_NO_MESSAGES"], when = ["minimum_size"]),
                _flags(_COMPILE, ["-Og"], when = ["dbg"]),
                _flags(_ASSEMBLE + _COMPILE, ["-g"], when = ["dbg"]),
            ],
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [_flags(_LINK, core_flags + _LINK_FLAGS)],
        ),
    ]
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "newlib",
        abi_version = "eabi",
        compiler = "gcc-" + ctx.attr.version,
        cxx_builtin_include_directories = ctx.attr.include_directories,
        features = features,
        host_system_name = "local",
        target_cpu = ctx.attr.cpu,
        target_libc = "newlib",
        target_system_name = "arm-none-eabi",
        tool_paths = [
            tool_path(name = tool, path = "bin/" + tool)
            for tool in ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]
        ],
        toolchain_identifier = "arm_none_eabi_" + ctx.attr.cpu,
    )

cc_toolchain_config = rule(
    implementation = _impl,
    attrs = {
        "core_flags": attr.string_list(mandatory = True, doc = "What selects core, FPU and ABI."),
        "cpu": attr.string(mandatory = True, doc = "Name of the core, as in the table of cores."),
        "include_directories": attr.string_list(doc = "Folders of headers that come with the compiler."),
        "prefix": attr.string(mandatory = True, doc = "Folder that the compiler is installed under."),
        "version": attr.string(mandatory = True, doc = "The compiler's version."),
    },
    provides = [CcToolchainConfigInfo],
    doc = "Describes arm-none-eabi-gcc for one core to Bazel.",
)
