"""Every external repository of the workspace. None of them needs a network, except @pypi (pip) and @cmsis_nn (when asked for)."""

load("//third_party/bazel:shims.bzl", "bazel_shims")
load("//third_party/cmsis_nn:repository.bzl", "cmsis_nn_repository")
load("//third_party/flatbuffers:repository.bzl", "flatbuffers_repository")
load("//third_party/googletest:repository.bzl", "googletest_repository")
load("//third_party/pypi:repository.bzl", "pypi_repository")
load("//toolchains/arm_none_eabi:repository.bzl", "arm_none_eabi_repository")
load("//toolchains/simulator:repositories.bzl", "fvp_repository", "qemu_repository")

def cortex_m_repositories(bazel_folders):
    """Declares all external repositories; each is fetched only when a target depends on it.

    Args:
      bazel_folders: FOLDERS of @bazel_installation.
    """
    bazel_shims(bazel_folders)
    arm_none_eabi_repository(name = "arm_none_eabi")
    cmsis_nn_repository(name = "cmsis_nn")
    flatbuffers_repository(name = "flatbuffers")
    fvp_repository(name = "fvp")
    googletest_repository(name = "googletest")
    pypi_repository(
        name = "pypi",
        lock = Label("//third_party/pypi:requirements.txt"),
        lock_cpu = Label("//third_party/pypi:requirements-cpu.txt"),
        lock_cuda = Label("//third_party/pypi:requirements-cuda.txt"),
    )
    qemu_repository(name = "qemu")
