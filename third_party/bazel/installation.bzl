"""@bazel_installation: what the Bazel that runs was installed with.

Debian's Bazel lies in /usr/share/bazel, with the rule sets that a Bazel 7 wants as folders beside it. Any other Bazel
downloads them by its own defaults.
"""

_DEBIAN = "/usr/share/bazel"

_FOLDERS = {
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "platforms": "tools/platforms",
    "rules_cc": "rules/cc",
    "rules_java": "rules/java",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
    "rules_python": "rules/python",
}

def _bazel_installation_impl(ctx):
    found = {}
    if str(ctx.path(Label("@bazel_tools//tools:BUILD")).realpath).startswith(_DEBIAN):
        for name, folder in _FOLDERS.items():
            if ctx.path(_DEBIAN + "/" + folder).exists:
                found[name] = _DEBIAN + "/" + folder
    ctx.file("BUILD.bazel", executable = False)
    ctx.file("folders.bzl", "FOLDERS = %s\n" % repr(found), executable = False)

bazel_installation = repository_rule(
    implementation = _bazel_installation_impl,
    doc = "Serves folders.bzl with FOLDERS: names of repositories and the folders that hold them.",
)
