"""cortex_m_package: libraries of models with all their sources as an archive, for teams without Bazel."""

load("//cortex_m:cores.bzl", "CORES")
load(":library.bzl", "CortexMLibraryInfo")
load(":python_action.bzl", "PYTHON_ATTRS", "run_python")

_SourcesInfo = provider(
    doc = "Sources and headers of a cc_library and all that it depends on.",
    fields = {
        "entries": "depset of structs (file, copts, optimize_size)",
        "include_folders": "depset of strings, where #include looks beside the root of the package's sources",
        "libraries": "depset of CortexMLibraryInfo",
    },
)

# The workspace of the model, and this repository under the name that it has there.
_OWN_REPOSITORIES = ["", Label("//cortex_m:defs.bzl").workspace_name]

def _place(file):
    """Where a file lies in the package: as in its workspace, other repositories' files in a folder of their own."""
    return file.short_path[3:] if file.short_path.startswith("../") else file.short_path

def _sources_aspect_impl(target, ctx):
    attributes = ctx.rule.attr
    entries = []
    folders = []
    libraries = []
    if CortexMLibraryInfo in target:
        libraries.append(target[CortexMLibraryInfo])
    elif ctx.rule.kind == "cc_library":
        for file in ctx.rule.files.srcs + ctx.rule.files.hdrs:
            if file.extension in ["c", "cc", "h"]:
                entries.append(struct(
                    file = file,
                    copts = tuple(attributes.copts),
                    optimize_size = "optimize_size" in attributes.features,
                ))
        repository = target.label.workspace_name
        if repository:  # its own includes begin at its root, which is a folder of the package (_place)
            folders.append(repository)
        root = "/".join([part for part in [repository, target.label.package] if part])
        for folder in attributes.includes:
            folders.append(root if folder == "." else "/".join([part for part in [root, folder] if part]))
    deps = [dep[_SourcesInfo] for dep in getattr(attributes, "deps", []) if _SourcesInfo in dep]
    return [_SourcesInfo(
        entries = depset(entries, transitive = [dep.entries for dep in deps]),
        include_folders = depset(folders, transitive = [dep.include_folders for dep in deps]),
        libraries = depset(libraries, transitive = [dep.libraries for dep in deps]),
    )]

_sources_aspect = aspect(
    implementation = _sources_aspect_impl,
    attr_aspects = ["deps"],
)

def _library_entry(library):
    arena = library.arena
    return {
        "c_name": library.c_name,
        "label": library.library,
        "model": library.model,
        "info": library.info.path,
        "header": library.header.path,
        "source": library.source.path,
        "assembly": library.assembly.path,
        "program": library.program.path,
        "arena_symbol": arena.symbol if arena else "",
        "arena_source": arena.source.path if arena else "",
        "model_section": library.sections["model"],
        "arena_section": arena.section if arena else library.sections["arena"],
        "state_section": library.sections["state"],
    }

def _library_files(library):
    files = [library.info, library.header, library.source, library.assembly, library.program]
    return files + ([library.arena.source] if library.arena else [])

def _archives(libraries):
    """What the linker gets of the libraries and of all that they depend on: object files in archives."""
    found = {}
    for library in libraries:
        for linker_input in library[CcInfo].linking_context.linker_inputs.to_list():
            for linked in linker_input.libraries:
                archive = linked.pic_static_library or linked.static_library
                if archive:
                    found[archive.path] = archive
    return found.values()

def _package_impl(ctx):
    found = [library[_SourcesInfo] for library in ctx.attr.libraries]
    libraries = depset(transitive = [info.libraries for info in found]).to_list()
    entries = depset(transitive = [info.entries for info in found]).to_list()
    generated = {file.path: None for library in libraries for file in _library_files(library)}
    sources = {
        _place(entry.file): entry
        for entry in entries
        if entry.file.path not in generated
    }
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    ctx.actions.write(manifest, json.encode(struct(
        name = ctx.label.name,
        label = str(ctx.label),
        libraries = [struct(**_library_entry(library)) for library in libraries],
        sources = [struct(
            path = entry.file.path,
            name = place,
            copts = list(entry.copts),
            optimize_size = entry.optimize_size,
            foreign = entry.file.owner.workspace_name not in _OWN_REPOSITORIES,
        ) for place, entry in sources.items()],
        include_folders = depset(transitive = [info.include_folders for info in found]).to_list(),
        cores = [struct(name = core["target"], flags = core["flags"]) for core in CORES.values()],
        license = ctx.file._license.path,
    )))
    run_python(
        ctx,
        main = ctx.file._package,
        deps = [ctx.attr._package_library],
        inputs = [manifest, ctx.file._license] +
                 [entry.file for entry in sources.values()] +
                 [file for library in libraries for file in _library_files(library)],
        outputs = [ctx.outputs.archive],
        arguments = ["--manifest=" + manifest.path, "--archive=" + ctx.outputs.archive.path],
        mnemonic = "CortexMPackage",
        progress_message = "Packing %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([ctx.outputs.archive]), runfiles = ctx.runfiles([ctx.outputs.archive])),
        # For the test that the sources are the right ones.
        OutputGroupInfo(
            archives = depset(_archives(ctx.attr.libraries)),
            sources = depset([manifest] + [entry.file for entry in sources.values()]),
        ),
    ]

_package = rule(
    implementation = _package_impl,
    attrs = dict(PYTHON_ATTRS, **{
        "libraries": attr.label_list(mandatory = True, allow_empty = False, providers = [CcInfo], aspects = [_sources_aspect]),
        "archive": attr.output(mandatory = True),
        "_license": attr.label(default = "//:LICENSE", allow_single_file = True),
        "_package": attr.label(default = "//cortex_m/firmware:package.py", allow_single_file = True),
        "_package_library": attr.label(default = "//cortex_m/firmware:library", providers = [PyInfo]),
    }),
)

def cortex_m_package(name, libraries, visibility = None, tags = []):
    """Declares NAME.zip: models as sources that CMake and arm-none-eabi-gcc build, without Bazel and Python.

        cortex_m_package(name = "models", libraries = [":keywords", ":anomaly_detector"])

    In it: the headers, the programs, the sources of runtime and kernels that these models need, a CMakeLists.txt that makes a
    library NAME of them, and a README.md. It serves every core that the models were exported for.

    Args:
      name: of the package, its folder and its CMake target.
      libraries: labels of cortex_m_library targets.
      visibility: of the package.
      tags: of the package.
    """
    _package(name = name, archive = name + ".zip", libraries = libraries, visibility = visibility, tags = tags)
