"""A flag of the command line with a fixed set of values."""

def _string_flag_impl(ctx):
    value = ctx.build_setting_value
    if value not in ctx.attr.values:
        fail("--%s=%s: this flag takes %s." % (ctx.label, value, " or ".join(ctx.attr.values)))
    return []

string_flag = rule(
    implementation = _string_flag_impl,
    attrs = {"values": attr.string_list(mandatory = True, doc = "The values that the flag takes.")},
    build_setting = config.string(flag = True),
    doc = "A build setting that config_setting reads with flag_values.",
)
