"""cortex_m_arena: working memory for several models, of which one runs at a time."""

load(":model.bzl", "CortexMModelInfo")
load(":program_info.bzl", "PROGRAM_INFO_ATTRS", "program_info")
load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

CortexMArenaInfo = provider(
    doc = "An arena that models share.",
    fields = {
        "symbol": "string, name of its array",
        "models": "list of Labels",
        "programs": "list of Files, their .pte",
        "infos": "list of Files, what program_info printed of each",
        "label": "Label",
        "section": "string, empty for the compiler's choice",
        "source": "File, C",
    },
)

def _arena_sources_impl(ctx):
    models = ctx.attr.models
    programs = [model[CortexMModelInfo].program for model in models]
    infos = [
        program_info(ctx, program, "%s/program_info_%d.json" % (ctx.label.name, number))
        for number, program in enumerate(programs)
    ]
    source = ctx.actions.declare_file("%s/%s.c" % (ctx.label.name, ctx.attr.symbol))
    run_python(
        ctx,
        main = ctx.file._arena,
        deps = [ctx.attr._arena_library],
        inputs = infos,
        outputs = [source],
        arguments = ["--info=" + info.path for info in infos] +
                    ["--model=%s" % model.label for model in models] + [
            "--symbol=" + ctx.attr.symbol,
            "--section=" + ctx.attr.section,
            "--source=" + source.path,
        ],
        mnemonic = "CortexMArena",
        progress_message = "Sizing %s for %d models" % (ctx.label, len(models)),
    )
    return [DefaultInfo(files = depset([source])), OutputGroupInfo(infos = depset(infos))]

_arena_sources = rule(
    implementation = _arena_sources_impl,
    attrs = dict(dict(PYTHON_ATTRS, **PROGRAM_INFO_ATTRS), **{
        "models": attr.label_list(mandatory = True, allow_empty = False, providers = [CortexMModelInfo]),
        "symbol": attr.string(mandatory = True),
        "section": attr.string(),
        "_arena": attr.label(default = "//cortex_m/firmware:arena.py", allow_single_file = True),
        "_arena_library": attr.label(default = "//cortex_m/firmware:library", providers = [PyInfo]),
    }),
)

def _arena_impl(ctx):
    return [
        CortexMArenaInfo(
            symbol = ctx.attr.symbol,
            models = [model.label for model in ctx.attr.models],
            programs = [model[CortexMModelInfo].program for model in ctx.attr.models],
            infos = ctx.attr.source[OutputGroupInfo].infos.to_list(),
            label = ctx.label,
            section = ctx.attr.section,
            source = ctx.file.source,
        ),
        DefaultInfo(files = ctx.attr.library[DefaultInfo].files),
        ctx.attr.library[CcInfo],
    ]

_arena = rule(
    implementation = _arena_impl,
    attrs = {
        "models": attr.label_list(providers = [CortexMModelInfo]),
        "library": attr.label(providers = [CcInfo]),
        "source": attr.label(allow_single_file = True),
        "symbol": attr.string(),
        "section": attr.string(),
    },
    provides = [CortexMArenaInfo, CcInfo],
)

def cortex_m_arena(name, models, section = None, visibility = None, tags = []):
    """Declares an arena that the libraries of several models share; it is as large as the largest of them needs.

        cortex_m_arena(name = "arena", models = [":keywords_model", ":anomaly_model"])
        cortex_m_library(name = "keywords", model = ":keywords_model", shared_arena = ":arena")
        cortex_m_library(name = "anomaly", model = ":anomaly_model", shared_arena = ":arena")

    One of the models runs at a time: inputs, run and outputs of one come before those of the next. A model that keeps
    state in its arena between runs is refused.

    Args:
      name: of the arena.
      models: labels of the cortex_m_models or cortex_m_programs whose libraries share it.
      section: for the linker script of the firmware; None for .bss. It need not be initialised.
      visibility: of the arena.
      tags: of the arena.
    """
    private = dict(tags = ["manual"], visibility = ["//visibility:private"])
    symbol = name + "_memory"
    _arena_sources(name = name + "_sources", models = models, symbol = symbol, section = section or "", **private)
    native.cc_library(name = name + "_library", srcs = [name + "_sources"], **private)
    _arena(
        name = name,
        models = models,
        library = name + "_library",
        source = name + "_sources",
        symbol = symbol,
        section = section or "",
        visibility = visibility,
        tags = tags,
    )
