"""What is in a .pte, as JSON: //cortex_m/runtime:program_info as a build action."""

load(":exporter.bzl", "TRANSITION_ATTRS", "to_exporter")

PROGRAM_INFO_ATTRS = dict(TRANSITION_ATTRS, _program_info = attr.label(
    default = "//cortex_m/runtime:program_info",
    allow_single_file = True,
    cfg = to_exporter,
))

def program_info(ctx, program, name):
    """Declares the action that verifies the .pte and prints what is in it as JSON.

    Args:
      ctx: of a rule that has PROGRAM_INFO_ATTRS.
      program: File, the .pte.
      name: of the file to declare.
    Returns:
      The File.
    """
    info = ctx.actions.declare_file(name)
    ctx.actions.run_shell(
        command = '"$1" "$2" > "$3"',
        arguments = [ctx.file._program_info.path, program.path, info.path],
        tools = [ctx.file._program_info],
        inputs = [program],
        outputs = [info],
        mnemonic = "CortexMProgramInfo",
        progress_message = "Verifying " + program.short_path,
    )
    return info
