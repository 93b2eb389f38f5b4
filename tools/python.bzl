"""Python tests.

    load("//tools:python.bzl", "pytest_test")
    pytest_test(name = "observer_test", srcs = ["observer_test.py"], deps = [":observer"])
"""

load("//platforms:compatible.bzl", "HOST_ONLY")

def pytest_test(name, srcs, deps = [], data = [], size = "medium", args = [], target_compatible_with = HOST_ONLY, **kwargs):
    """A test whose `srcs` are files for pytest; torch, numpy and the other locked packages need no `deps`.

    Tests import from the root of the workspace. `shard_count` splits the test cases; --test_filter=EXPRESSION selects
    some, as pytest's -k does.

    Args:
      name: name of the target.
      srcs: files of tests.
      deps: Python libraries.
      data: other files that the tests read.
      size: as for any test.
      args: more arguments for pytest.
      target_compatible_with: as for any target; by default the test is skipped where a device is built for.
      **kwargs: attributes of py_test.
    """
    native.py_test(
        name = name,
        srcs = srcs + [Label("//tools:pytest_main.py")],
        main = Label("//tools:pytest_main.py"),
        args = ["$(rootpath %s)" % src for src in srcs] + args,
        data = data,
        python_version = "PY3",
        size = size,
        target_compatible_with = target_compatible_with,
        deps = deps,
        **kwargs
    )
