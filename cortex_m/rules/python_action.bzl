"""Running a Python program with torch as a build action."""

PYTHON_ATTRS = {
    "_python": attr.label(
        default = "@pypi//:python",
        allow_single_file = True,
        cfg = "exec",
        doc = "Launcher of the locked interpreter; its bytes are the same in every clone.",
    ),
    "_python_lock": attr.label(
        default = "@pypi//:lock_hash",
        allow_single_file = True,
        doc = "Identity of the installed packages: the action is stale when they change.",
    ),
}

def _import_roots(files):
    """Folders in which modules, and files beside modules, are looked for: the root of each one's workspace."""
    roots = {}
    for file in files:
        root = "/".join([part for part in [file.root.path, file.owner.workspace_root] if part])
        roots[root or "."] = True
    return roots.keys()

def run_python(ctx, main, deps, arguments, outputs, inputs = [], env = {}, mnemonic = None, progress_message = None):
    """Declares an action that runs a Python file with what it imports.

    Args:
      ctx: of a rule that has PYTHON_ATTRS.
      main: File, the program.
      deps: targets with PyInfo that it imports from.
      arguments: list of strings and Args.
      outputs: list of Files.
      inputs: list of Files it reads; importlib.resources finds them beside the modules of their packages.
      env: dict of environment variables.
      mnemonic: as in ctx.actions.run.
      progress_message: as in ctx.actions.run.
    """
    sources = depset([main], transitive = [dep[PyInfo].transitive_sources for dep in deps])
    data = depset(transitive = [dep[DefaultInfo].default_runfiles.files for dep in deps])
    ctx.actions.run(
        executable = ctx.file._python,
        arguments = [main.path] + arguments,
        inputs = depset(inputs + [ctx.file._python_lock], transitive = [sources, data]),
        outputs = outputs,
        env = dict(env, PYTHONPATH = ":".join(_import_roots(sources.to_list() + inputs)), PYTHONDONTWRITEBYTECODE = "1"),
        mnemonic = mnemonic,
        progress_message = progress_message,
    )
