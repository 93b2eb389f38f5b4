"""@pypi: Python 3.11 and the hash-locked packages of requirements.txt, as one interpreter.

The packages lie in the user's cache folder ($CORTEX_M_PYTHON_CACHE, else $XDG_CACHE_HOME/cortex_m, else
~/.cache/cortex_m), shared by all clones. Bazel sees three small files:

  @pypi//:python          launcher of the interpreter; its text carries the hash of the locks, so that actions depend on
                          the environment's identity without thousands of input files
  @pypi//:program_schema  the .pte format's program.fbs and scalar_type.fbs, from the executorch package
  @pypi//:lock_hash       the hash of the locks
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

exports_files(["python"])

filegroup(
    name = "lock_hash",
    srcs = ["locks.sha256"],
)

filegroup(
    name = "program_schema",
    srcs = [
        "program.fbs",
        "scalar_type.fbs",
    ],
)
"""

_PROBE = """
import sys, importlib.util
ok = sys.version_info[:2] == (3, 11) and importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")
sys.exit(0 if ok else "it is not Python 3.11 with venv and ensurepip")
"""

def _candidates(ctx):
    """Files that may be a Python 3.11, in the order of preference."""
    folders = [folder for folder in ctx.os.environ.get("PATH", "").split(":") if folder.startswith("/")]
    names = [ctx.path(folder).get_child("python3.11") for folder in folders]

    # A shim of pyenv fails where no version is selected, though one is installed.
    pyenv = ctx.path(ctx.os.environ.get("PYENV_ROOT", ctx.os.environ.get("HOME", "") + "/.pyenv")).get_child("versions")
    if pyenv.exists:
        names += [version.get_child("bin").get_child("python3.11") for version in pyenv.readdir() if version.basename.startswith("3.11.")]
    return [name for name in names if name.exists]

def _find_python(ctx):
    chosen = ctx.os.environ.get("CORTEX_M_PYTHON")
    candidates = [ctx.path(chosen)] if chosen else _candidates(ctx)
    reasons = []
    for python in candidates:
        probe = ctx.execute([python, "-c", _PROBE])
        if probe.return_code == 0:
            return python
        reasons.append(" %s: %s." % (python, (probe.stderr.strip().split("\n") or [""])[-1]))
    fail("Python 3.11 with venv is needed: put python3.11 on PATH or name it in $CORTEX_M_PYTHON (Debian 12: packages python3.11 and python3-venv)." + "".join(reasons))

def _cache_folder(ctx):
    env = ctx.os.environ
    if env.get("CORTEX_M_PYTHON_CACHE"):
        return env["CORTEX_M_PYTHON_CACHE"]
    if env.get("XDG_CACHE_HOME"):
        return env["XDG_CACHE_HOME"] + "/cortex_m"
    if not env.get("HOME"):
        fail("No folder for the Python environment: set $HOME, $XDG_CACHE_HOME or $CORTEX_M_PYTHON_CACHE.")
    return env["HOME"] + "/.cache/cortex_m"

def _pypi_repository_impl(ctx):
    installer = ctx.path(ctx.attr._installer)
    locks = [ctx.path(lock) for lock in [ctx.attr.lock, ctx.attr.lock_cpu, ctx.attr.lock_cuda]]
    python = _find_python(ctx)

    ctx.report_progress("installing the Python environment (about 1 GB the first time)")
    install = ctx.execute([python, "-I", installer, _cache_folder(ctx)] + locks, timeout = 7200, quiet = False)
    if install.return_code != 0:
        fail("The Python environment could not be installed; pip's words are above.")
    environment = install.stdout.strip().split("\n")[-1]
    ctx.symlink(environment, "environment")

    identity = ctx.execute(["sha256sum"] + locks)
    hashes = [line.split(" ")[0] for line in identity.stdout.strip().split("\n")]
    ctx.file("locks.sha256", "\n".join(hashes) + "\n", executable = False)
    ctx.template("python", ctx.attr._launcher, {"@LOCKS@": ", ".join([hash[:16] for hash in hashes])}, executable = True)
    for schema in ["program.fbs", "scalar_type.fbs"]:
        source = ctx.path("environment/lib/python3.11/site-packages/executorch/schema/" + schema)
        if not source.exists:
            fail("The executorch package does not carry " + schema + ".")
        ctx.file(schema, ctx.read(source), executable = False)
    ctx.file("BUILD.bazel", _BUILD, executable = False)

pypi_repository = repository_rule(
    implementation = _pypi_repository_impl,
    attrs = {
        "lock": attr.label(mandatory = True, allow_single_file = True, doc = "Every package but torch, with version and hashes."),
        "lock_cpu": attr.label(mandatory = True, allow_single_file = True, doc = "torch's CPU build, taken where pip finds it."),
        "lock_cuda": attr.label(mandatory = True, allow_single_file = True, doc = "torch's CUDA build and what it needs."),
        "_installer": attr.label(default = "//third_party/pypi:install.py", allow_single_file = True),
        "_launcher": attr.label(default = "//third_party/pypi:python.sh", allow_single_file = True),
    },
    environ = ["CORTEX_M_PYTHON", "CORTEX_M_PYTHON_CACHE", "HOME", "PATH", "PYENV_ROOT", "XDG_CACHE_HOME"],
    doc = "Installs the locked Python environment with pip, or finds it in the user's cache.",
)
