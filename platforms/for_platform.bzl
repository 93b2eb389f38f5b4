"""Files of a target built for a device, as data of something that runs on the host: NAME/FILE, in the target's package.

    load("//platforms:for_platform.bzl", "for_platform")
    for_platform(name = "blink_m4", platform = "//platforms:cortex_m4", srcs = [":blink"])
    sh_test(name = "blink_test", srcs = ["blink_test.sh"], data = [":blink_m4"])
"""

def _to_platform_impl(_settings, attr):
    return {"//command_line_option:platforms": str(attr.platform)}

_to_platform = transition(
    implementation = _to_platform_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _for_platform_impl(ctx):
    # In runfiles, one target built for two platforms would have one name: each gets a folder of its own.
    files = []
    for source in ctx.files.srcs:
        link = ctx.actions.declare_file(ctx.label.name + "/" + source.basename)
        ctx.actions.symlink(output = link, target_file = source)
        files.append(link)
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

for_platform = rule(
    implementation = _for_platform_impl,
    attrs = {
        "platform": attr.label(mandatory = True, doc = "What to build for."),
        "srcs": attr.label_list(mandatory = True, cfg = _to_platform, doc = "Targets whose files are wanted."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    doc = "Builds `srcs` for `platform` and hands their files on.",
)
