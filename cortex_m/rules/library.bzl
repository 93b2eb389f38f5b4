"""cortex_m_library: a model as a cc_library for somebody's firmware."""

load("//cortex_m/boards:board_binary.bzl", "CORE_NAME_OR_HOST")
load(":arena.bzl", "CortexMArenaInfo")
load(":kernel_table.bzl", "KERNEL_TABLE_ATTRS")
load(":model.bzl", "CortexMModelInfo")
load(":program_info.bzl", "PROGRAM_INFO_ATTRS", "program_info")
load(":python_action.bzl", "run_python")

CortexMLibraryInfo = provider(
    doc = "The sources of a model's library.",
    fields = {
        "c_name": "string, what its names in C begin with",
        "library": "string, label of the library",
        "model": "string, label of the model",
        "header": "File",
        "source": "File, C++",
        "assembly": "File, which includes the program by the path `program_path`",
        "program": "File, the .pte",
        "info": "File, what program_info printed of it",
        "arena": "CortexMArenaInfo, or None",
        "sections": "dict of strings: model, arena, state; empty for the compiler's choice",
    },
)

_SOURCES = "_sources"

def _library_sources_impl(ctx):
    model = ctx.attr.model[CortexMModelInfo]
    folder = ctx.label.name + "/"
    c_name = ctx.attr.c_name
    info = program_info(ctx, model.program, folder + "program_info.json")
    header, source, assembly = [
        ctx.actions.declare_file(folder + name)
        for name in [c_name + ".h", c_name + ".cc", c_name + "_pte.S"]
    ]
    arguments = [
        "--info=" + info.path,
        "--kernels=" + ctx.file.available.path,
        "--core=" + ctx.attr.core,
        "--c_name=" + c_name,
        "--label=%s" % ctx.attr.model.label,
        "--program=" + model.program.path,
        "--arena_section=" + ctx.attr.arena_section,
        "--model_section=" + ctx.attr.model_section,
        "--state_section=" + ctx.attr.state_section,
        "--verify_at=" + ctx.attr.verify_at,
        "--header=" + header.path,
        "--source=" + source.path,
        "--assembly=" + assembly.path,
    ]
    arena = ctx.attr.shared_arena[CortexMArenaInfo] if ctx.attr.shared_arena else None
    arena_infos = arena.infos if arena else []
    if arena:
        if model.program not in arena.programs:
            fail("%s is not among the models of %s, which therefore need not be large enough: add it there" %
                 (ctx.attr.model.label, arena.label))
        if ctx.attr.arena_section:
            fail("the section of a shared arena is said where it is declared, in %s" % arena.label)
        arguments += [
            "--arena=" + arena.symbol,
            "--shared_with=" + ",".join([str(label) for label in arena.models]),
        ] + ["--shared_info=" + shared.path for shared in arena_infos]
    if model.report:
        arguments.append("--report=" + model.report.path)
    run_python(
        ctx,
        main = ctx.file._library,
        deps = [ctx.attr._library_deps],
        inputs = [info, model.program, ctx.file.available] + arena_infos + ([model.report] if model.report else []),
        outputs = [header, source, assembly],
        arguments = arguments,
        mnemonic = "CortexMLibrary",
        progress_message = "Generating %s for %s" % (c_name, ctx.attr.model.label),
    )
    return [
        DefaultInfo(files = depset([source, assembly])),
        OutputGroupInfo(header = depset([header])),
        CortexMLibraryInfo(
            c_name = c_name,
            library = "//%s:%s" % (ctx.label.package, ctx.label.name[:-len(_SOURCES)]),
            model = "//%s:%s" % (ctx.attr.model.label.package, ctx.attr.model.label.name),
            header = header,
            source = source,
            assembly = assembly,
            program = model.program,
            info = info,
            arena = arena,
            sections = {
                "model": ctx.attr.model_section,
                "arena": ctx.attr.arena_section,
                "state": ctx.attr.state_section,
            },
        ),
        # The program counts as a header: whoever compiles the assembly reads it.
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, model.program]),
            includes = depset([header.dirname]),
        )),
    ]

_library_sources = rule(
    implementation = _library_sources_impl,
    doc = "Generates header, source and assembly of a model's library.",
    attrs = dict(dict(KERNEL_TABLE_ATTRS, **PROGRAM_INFO_ATTRS), **{
        "model": attr.label(mandatory = True, providers = [CortexMModelInfo]),
        "c_name": attr.string(mandatory = True),
        "core": attr.string(doc = "Name in //platforms; empty for the host."),
        "available": attr.label(mandatory = True, allow_single_file = True, doc = "Names of the operators it may call."),
        "shared_arena": attr.label(providers = [CortexMArenaInfo]),
        "arena_section": attr.string(),
        "model_section": attr.string(),
        "state_section": attr.string(),
        "verify_at": attr.string(values = ["init", "build"]),
        "_library": attr.label(default = "//cortex_m/firmware:library.py", allow_single_file = True),
        "_library_deps": attr.label(default = "//cortex_m/firmware:library", providers = [PyInfo]),
    }),
    provides = [CortexMLibraryInfo, CcInfo],
)

def cortex_m_library(
        name,
        model,
        c_name = None,
        shared_arena = None,
        arena_section = None,
        model_section = None,
        state_section = None,
        verify_at = "build",
        portable = False,
        visibility = None,
        tags = [],
        **kwargs):
    """Declares a cc_library with a model, what it needs to run, and a header for it: NAME.h, for C and C++.

        cortex_m_library(name = "keywords", model = ":keywords_model")

        #include "keywords.h"
        if (keywords_init()) {                               // in C++: keywords::Init()
          memcpy(keywords_input_0(), features, KEYWORDS_INPUT_0_BYTES);
          if (keywords_run()) use(keywords_output_0());
        }

    The program lies in flash; arena and state are arrays of exactly the size that it needs; of the kernels only those that
    it calls are linked. Nothing in it prints, allocates or throws, and nothing runs before keywords_init(). It brings no
    start-up code, linker script or main: they are the firmware's.

    A model that was exported for a core with another instruction set, or calls an operator without a kernel, is a build error.

    Args:
      name: of the cc_library.
      model: label of a cortex_m_model or cortex_m_program.
      c_name: what functions and macros begin with, and the header's name; `name` if not given. Two libraries of one firmware
        have two.
      shared_arena: label of a cortex_m_arena with this model, instead of an arena of its own.
      arena_section: section of the arena, for the firmware's linker script; None for .bss. It need not be initialised.
      model_section: section of the program; None for .rodata.
      state_section: section of the runtime's state; None for .bss. It need not be initialised.
      verify_at: "build": the build has checked checksum and structure of the program, and init reads no more than its header.
        "init": init checks them each time, for a program that may be exchanged or damaged in flash.
      portable: whether the model may call all operators of cortex_m/portable, as for cortex_m_runner.
      visibility: of the cc_library.
      tags: of the cc_library.
      **kwargs: other attributes of cc_library.
    """
    sources = name + _SOURCES
    _library_sources(
        name = sources,
        model = model,
        c_name = c_name or name,
        core = CORE_NAME_OR_HOST,
        available = Label("//cortex_m/runner:all.txt") if portable else Label("//cortex_m/runner:int8.txt"),
        shared_arena = shared_arena,
        arena_section = arena_section,
        model_section = model_section,
        state_section = state_section,
        verify_at = verify_at,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [sources],
        deps = [
            sources,
            Label("//cortex_m/runner:all_operators") if portable else Label("//cortex_m/runner:int8_operators"),
            Label("//cortex_m/runtime"),
        ] + ([shared_arena] if shared_arena else []) + kwargs.pop("deps", []),
        features = ["optimize_size"],
        visibility = visibility,
        tags = tags,
        **kwargs
    )
