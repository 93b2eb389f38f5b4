"""The one configuration in which models are exported, whatever core the rest of the build is for.

Bazel names output folders after the transitions that led there. Every way to a model passes this one, to a platform that
nothing else uses, so all cores share one export instead of repeating it.
"""

_EXPORTER = str(Label("//platforms:exporter"))

def _to_exporter_impl(_settings, _attr):
    return {"//command_line_option:platforms": _EXPORTER}

to_exporter = transition(
    implementation = _to_exporter_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

TRANSITION_ATTRS = {
    "_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    ),
}
