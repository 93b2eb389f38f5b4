"""What repository rules need to serve files of Debian packages: find them, or say in one sentence which package is missing."""

def need_program(ctx, name, package, use):
    """Path of a program on PATH.

    Args:
      ctx: the repository context.
      name: the command.
      package: Debian's package that carries it.
      use: what it is for, as "flatbuffers' schema compiler".
    """
    program = ctx.which(name)
    if not program:
        fail("%s (%s) is not installed: './bazelw' or 'apt-get install %s' puts it in place." % (name, use, package))
    return program

def need_folder(ctx, path, package, use):
    """Path of an installed folder; arguments as above."""
    folder = ctx.path(path)
    if not folder.exists:
        fail("%s (%s) is not installed: './bazelw' or 'apt-get install %s' puts it in place." % (path, use, package))
    return folder
