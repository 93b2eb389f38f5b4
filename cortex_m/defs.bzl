"""The public rules: from a PyTorch model to a program for a Cortex-M, and a test that runs it.

    load("//cortex_m:defs.bzl", "cortex_m_model", "cortex_m_runner", "cortex_m_test")

    cortex_m_model(name = "net", module = "net.py")             # net.pte: quantized, lowered, with predicted outputs
    cortex_m_runner(name = "net_runner", model = ":net")        # ELF; buffers of exactly the size that net.pte needs
    cortex_m_library(name = "net_library", model = ":net", c_name = "net")   # for a firmware of your own: docs/firmware.md
    cortex_m_report(name = "net_report", model = ":net")        # one HTML page: costs by layer, memory, flash, accuracy
    cortex_m_test(name = "net_test", model = ":net", cores = ["cortex_m55", "cortex_m4"])
"""

load("//cortex_m/rules:arena.bzl", _cortex_m_arena = "cortex_m_arena")
load("//cortex_m/rules:device_binary.bzl", _device_binary = "device_binary")
load("//cortex_m/rules:library.bzl", _cortex_m_library = "cortex_m_library")
load("//cortex_m/rules:model.bzl", _cortex_m_model = "cortex_m_model", _cortex_m_program = "cortex_m_program")
load("//cortex_m/rules:package.bzl", _cortex_m_package = "cortex_m_package")
load("//cortex_m/rules:report.bzl", _cortex_m_report = "cortex_m_report")
load("//cortex_m/rules:runner.bzl", _cortex_m_runner = "cortex_m_runner")
load("//cortex_m/rules:test.bzl", _cortex_m_test = "cortex_m_test")
load("//cortex_m/test:tester_test.bzl", _cortex_m_tester_test = "cortex_m_tester_test")

cortex_m_arena = _cortex_m_arena
cortex_m_library = _cortex_m_library
cortex_m_model = _cortex_m_model
cortex_m_package = _cortex_m_package
cortex_m_program = _cortex_m_program
cortex_m_report = _cortex_m_report
cortex_m_runner = _cortex_m_runner
cortex_m_elf = _device_binary
cortex_m_test = _cortex_m_test
cortex_m_tester_test = _cortex_m_tester_test
