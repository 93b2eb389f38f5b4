"""@arm_none_eabi: the cross compiler of the machine, $ARM_NONE_EABI_GCC_PATH (a folder) or else the one on PATH."""

_TOOLS = ["ar", "cpp", "g++", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "readelf", "size", "strip"]

_PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib"

# The linker and the compiler passes lie outside of the repository; the wrapper names the place where gcc is installed,
# and the linked program, an input of every action, tells when it was replaced.
_WRAPPER = """#!/bin/sh
exec {tool} "$@"
"""

_BUILD = """
load("@cortex_m_workspace//toolchains/arm_none_eabi:toolchain.bzl", "arm_none_eabi_toolchains")

package(default_visibility = ["//visibility:public"])

filegroup(
    name = "files",
    srcs = glob(["bin/*", "installed/*"]) + ["version.txt"],
)

[filegroup(
    name = tool,
    srcs = ["bin/" + tool],
) for tool in {tools}]

arm_none_eabi_toolchains(
    files = ":files",
    include_directories = {include_directories},
    prefix = {prefix},
    version = {version},
)
"""

def _canonical(gcc):
    """The same by the real name of its folder: from /bin, a link on Debian, GCC names its headers in another way than from /usr/bin."""
    return gcc.dirname.realpath.get_child(gcc.basename)

def _find_gcc(ctx):
    folder = ctx.os.environ.get("ARM_NONE_EABI_GCC_PATH")
    if not folder:
        gcc = ctx.which("arm-none-eabi-gcc")
        if not gcc:
            fail("arm-none-eabi-gcc, the cross compiler, is not installed: './bazelw' or 'apt-get install %s' puts it in place." % _PACKAGES)
        return _canonical(gcc)
    for candidate in [folder + "/arm-none-eabi-gcc", folder + "/bin/arm-none-eabi-gcc"]:
        if ctx.path(candidate).exists:
            return _canonical(ctx.path(candidate))
    fail("$ARM_NONE_EABI_GCC_PATH is %s, a folder that holds no arm-none-eabi-gcc." % folder)

def _include_directories(ctx, gcc):
    """Folders of the headers that come with the compiler and newlib, which Bazel lets every compilation read."""
    probe = ctx.execute([gcc, "-E", "-x", "c++", "-v", "/dev/null"], environment = {"LC_ALL": "C"})
    listing = probe.stderr.split("#include <...> search starts here:")
    if probe.return_code != 0 or len(listing) != 2:
        fail("%s does not work: %s" % (gcc, probe.stderr))
    folders = [line.strip() for line in listing[1].split("End of search list.")[0].split("\n") if line.strip()]
    headers = [folder for folder in folders if ctx.path(folder).exists]
    real = [str(ctx.path(folder).realpath) for folder in headers]
    found = {folder: None for folder in [str(ctx.path(folder)) for folder in headers] + real}
    if not [folder for folder in headers if ctx.path(folder).get_child("stdint.h").exists and ctx.path(folder).get_child("newlib.h").exists]:
        fail("newlib, the C library of the cross compiler, is not installed: './bazelw' or 'apt-get install libnewlib-arm-none-eabi' puts it in place.")
    if not [folder for folder in headers if ctx.path(folder).get_child("type_traits").exists]:
        fail("libstdc++ of the cross compiler is not installed: './bazelw' or 'apt-get install libstdc++-arm-none-eabi-newlib' puts it in place.")
    return found.keys()

def _arm_none_eabi_repository_impl(ctx):
    gcc = _find_gcc(ctx)
    for tool in _TOOLS:
        path = gcc.dirname.get_child("arm-none-eabi-" + tool)
        if not path.exists:
            fail("%s is missing beside the cross compiler: './bazelw' or 'apt-get install binutils-arm-none-eabi' puts it in place." % path)
        ctx.file("bin/" + tool, _WRAPPER.format(tool = path))
        ctx.symlink(path, "installed/" + tool)
    version = ctx.execute([gcc, "-dumpfullversion"]).stdout.strip()
    ctx.file("version.txt", ctx.execute([gcc, "--version"]).stdout, executable = False)
    ctx.file("BUILD.bazel", _BUILD.format(
        include_directories = repr(_include_directories(ctx, gcc)),
        prefix = repr(str(gcc.realpath.dirname.dirname)),
        tools = repr(_TOOLS),
        version = repr(version),
    ), executable = False)

arm_none_eabi_repository = repository_rule(
    implementation = _arm_none_eabi_repository_impl,
    configure = True,
    environ = ["ARM_NONE_EABI_GCC_PATH", "PATH"],
    doc = "Finds the cross compiler and declares a cc_toolchain a core.",
)
