"""cortex_m_tester_test: tests that use CortexMTester, with the runners of the cores they run on."""

load("//cortex_m:cores.bzl", "CORES", "platform_of")
load("//tools:python.bzl", "pytest_test")

def cortex_m_tester_test(name, srcs, cores = ["cortex_m55"], runner = "universal", deps = [], data = [], args = [], **kwargs):
    """A pytest_test whose tests may take the fixture `cortex_m_target`, once for each core.

    Args:
      name: of the test.
      srcs: files of tests.
      cores: platforms of //platforms, "cortex_m55".
      runner: "universal", or "universal_int8" where no operator is left in float: it has few kernels to compile for each core.
      deps: Python libraries beside the tester.
      data: other files that the tests read.
      args: more arguments for pytest.
      **kwargs: other attributes of pytest_test.
    """
    cores = [platform_of(core) for core in cores]
    for core in cores:
        if core not in CORES:
            fail("%s is none of the cores: %s" % (core, ", ".join(sorted(CORES))))
    pytest_test(
        name = name,
        srcs = srcs,
        args = ["-p", "cortex_m.test.pytest_plugin"] + ["--cortex-m-target=" + CORES[core]["target"] for core in cores] + args,
        data = data + [Label("//cortex_m/runner:%s_%s" % (runner, core)) for core in cores],
        deps = deps + [Label("//cortex_m/test:tester")],
        **kwargs
    )
