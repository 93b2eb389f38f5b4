"""`model_test`: a network through the whole way, on every core it fits."""

load("//cortex_m:defs.bzl", "cortex_m_elf", "cortex_m_model", "cortex_m_runner")
load("//tools:python.bzl", "pytest_test")

def model_test(name, module, entry = "model", deps = [], cores = ["cortex_m55", "cortex_m4", "cortex_m3"], **kwargs):
    """Exports a network and declares NAME_test: what expectations.yaml says of NAME, and the same bytes on all cores.

    Args:
      name: of the cortex_m_model.
      module: Python file with the entry function.
      entry: function that returns a cortex_m.ModelSource.
      deps: py_library targets that the module imports.
      cores: where it runs, beside this machine.
      **kwargs: other attributes of the test.
    """
    cortex_m_model(name = name, module = module, entry = entry, deps = deps, visibility = ["//examples/firmware:__pkg__"])
    recorded_model_test(name = name, model = name, cores = cores, **kwargs)

def recorded_model_test(name, model, cores, runner = None, **kwargs):
    """The same of a model that is declared elsewhere, whose name it has."""
    if runner == None:
        runner = name + "_runner"
        cortex_m_runner(name = runner, model = model, tags = ["manual"])
    elves = []
    for core in cores:
        cortex_m_elf(name = "%s_%s" % (name, core), binary = runner, core = core, tags = ["manual"])
        elves.append("%s_%s" % (name, core))
    for group in ["report", "vectors"]:
        native.filegroup(
            name = "%s_%s" % (name, group),
            srcs = [model],
            output_group = group,
            visibility = ["//examples/firmware:__pkg__"],
        )
    pytest_test(
        name = name + "_test",
        srcs = ["model_test.py"],
        data = ["expectations.yaml", model, runner, name + "_report", name + "_vectors"] + elves,
        env = {
            "MODEL": name,
            "MODEL_PROGRAM": "$(rootpath %s)" % model,
            "MODEL_REPORT": "$(rootpaths :%s_report)" % name,
            "MODEL_VECTORS": "$(rootpath :%s_vectors)" % name,
            "MODEL_RUNNERS": " ".join(
                ["host=$(rootpath %s)" % runner] +
                ["%s=$(rootpath :%s_%s)" % (core, name, core) for core in cores],
            ),
        },
        deps = ["//cortex_m/test:model_on_device"],
        **kwargs
    )
