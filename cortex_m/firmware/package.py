"""Packs libraries of models with all sources that they need into a .zip, for teams without Bazel.

    package.py --manifest=manifest.json --archive=models.zip

The manifest says (cortex_m/rules/package.bzl writes it):
  name       of the package and of its CMake target
  libraries  [{c_name, label, model, info, header, source, assembly, program, arena_symbol, arena_source, model_section,
             arena_section, state_section}]; info: the file that program_info printed
  sources    [{path, name, copts, optimize_size, foreign}]: all files there are; `name` is the place in the package, under src;
             foreign: of another repository than the model's and this one
  include_folders  where #include looks, under src
  cores      [{name, flags}]: "cortex-m4" and what the compiler is given for it
  license    path
The same inputs give the same bytes.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from string import Template
from typing import Any

from absl import app, flags

from cortex_m.firmware import sources
from cortex_m.firmware.needed_sources import MissingInclude, NeededSources
from cortex_m.runner import generate

_MANIFEST = flags.DEFINE_string("manifest", None, "What to pack, JSON.", required=True)
_ARCHIVE = flags.DEFINE_string("archive", None, "The .zip to write.", required=True)

_FOLDER = Path(__file__).parent


def filled(template: str, **values: object) -> str:
    """The text of a template beside this file with its $words replaced."""
    return Template((_FOLDER / template).read_text()).substitute(values)


def portable_copts(copts: list[str]) -> list[str]:
    """Options that change what the code computes: warnings are the repository's own, the language's version is CMake's."""
    return [option for option in copts if not option.startswith(("-W", "-std="))]


def cmake_lists(manifest: dict[str, Any], files: dict[str, Path], chosen: list[dict[str, Any]]) -> str:
    """The text of CMakeLists.txt. files: what is in the package, by its place; chosen: those of the manifest's sources."""
    compiled = sorted(name for name in files if name.endswith((".c", ".cc", ".S")))
    options: dict[tuple[str, ...], list[str]] = {}
    for entry in chosen:
        name = f"src/{entry['name']}"
        if name in compiled:
            level = "${size}" if entry["optimize_size"] else "${speed}"
            options.setdefault((level, *portable_copts(entry["copts"])), []).append(name)
    options[("${size}",)] = options.get(("${size}",), []) + [
        name for name in compiled if name.startswith("models/") and name[-2:] != ".S"
    ]
    properties = [
        "set_source_files_properties(\n"
        + "".join(f"  {name}\n" for name in sorted(names))
        + f'  PROPERTIES COMPILE_OPTIONS "{";".join(flags_)}")'
        for flags_, names in sorted(options.items())
    ]
    folders = ["src", *(f"src/{folder}" for folder in manifest["include_folders"] if folder), "models"]
    return filled(
        "CMakeLists.txt.template",
        name=manifest["name"],
        models=", ".join(library["c_name"] for library in manifest["libraries"]),
        sources="\n".join(f"  {name}" for name in compiled),
        include_folders=" ".join(dict.fromkeys(folders)),
        options="\n".join(properties),
    )


def toolchain_file(cores: dict[str, list[str]]) -> str:
    """The text of arm-none-eabi.cmake. cores: compiler flags by the core's name."""
    return filled(
        "arm-none-eabi.cmake.template",
        cores=", ".join(cores),
        flags="\n".join(f'set(CORTEX_M_FLAGS_{target} "{" ".join(flags_)}")' for target, flags_ in cores.items()),
    )


def readme(manifest: dict[str, Any]) -> str:
    """The text of README.md."""
    libraries = manifest["libraries"]
    rows = []
    sections = set()
    for library in libraries:
        info = json.loads(Path(library["info"]).read_text())
        target = info["target"]["core"] if info["target"] else "any core"
        size = Path(library["program"]).stat().st_size
        arena = generate.arena_bytes(generate.method_of(info, None))
        rows.append(
            f"| {library['model']} | {library['c_name']}.h | {size:,} | {arena:,} | {'any core' if target == 'any' else target} |\n"
        )
        for kind, default in {"model": ".rodata", "arena": ".bss", "state": ".bss"}.items():
            sections.add((library[f"{kind}_section"] or default, kind))
    first = sources.names(libraries[0]["c_name"])
    method = generate.method_of(json.loads(Path(libraries[0]["info"]).read_text()), None)
    shared = [library["c_name"] for library in libraries if library["arena_symbol"]]
    sharing = (
        f"\nThese share an arena: {', '.join(shared)}. Write the inputs, run, and read the outputs of one of them before the next.\n"
        if shared
        else ""
    )
    what = {"model": "programs: flash", "arena": "working memory: RAM", "state": "the runtime's state: RAM"}
    return filled(
        "README.md.template",
        name=manifest["name"],
        models_text="One model" if len(libraries) == 1 else f"{len(libraries)} models",
        table="".join(rows),
        first=first["c_name"],
        first_upper=first["upper"],
        first_type=sources.common_type(sources.tensors("output", method, None)),
        sharing=sharing,
        sections="".join(f"| `{section}` | {what[kind]} |\n" for section, kind in sorted(sections)),
    )


def check_names(libraries: list[dict[str, Any]]) -> None:
    """Raises Refused for two libraries of one name."""
    seen: dict[str, str] = {}
    for library in libraries:
        other = seen.setdefault(library["c_name"], library["label"])
        if other != library["label"]:
            raise generate.Refused(
                f"{other} and {library['label']} are both called {library['c_name']}: give one another c_name"
            )


def _headers(manifest: dict[str, Any]) -> dict[str, Path]:
    return {f"{library['c_name']}.h": Path(library["header"]) for library in manifest["libraries"]}


def contents(manifest: dict[str, Any]) -> tuple[dict[str, Path], dict[str, str]]:
    """What is in the package, by its place there: files to copy, and texts. Raises Refused."""
    check_names(manifest["libraries"])
    files = {f"include/{name}": path for name, path in _headers(manifest).items()}
    texts: dict[str, str] = {}
    roots: dict[str, str] = {}
    for library in manifest["libraries"]:
        c_name = library["c_name"]
        files[f"models/{c_name}.cc"] = Path(library["source"])
        files[f"models/{c_name}.pte"] = Path(library["program"])
        files[f"models/{c_name}_pte.S"] = Path(library["assembly"])
        texts[f"models/{c_name}_pte.S"] = sources.assembly(
            c_name, f"{c_name}.pte", library["model_section"], generate.fingerprint(Path(library["program"]))
        )
        roots[f"models/{c_name}.cc"] = Path(library["source"]).read_text()
        if library["arena_symbol"]:
            files[f"models/{library['arena_symbol']}.c"] = Path(library["arena_source"])
    by_name = {entry["name"]: entry for entry in manifest["sources"]}
    candidates = {name: Path(entry["path"]).read_text() for name, entry in by_name.items()}
    headers = {f"include/{name}": path.read_text() for name, path in _headers(manifest).items()}
    foreign = [name for name, entry in by_name.items() if entry["foreign"]]
    folders = ["", "include", *manifest["include_folders"]]
    try:
        needed = NeededSources(candidates | roots | headers, folders, foreign).of(roots)
    except MissingInclude as error:
        raise generate.Refused(f"{error}: no archive without it would compile") from error
    chosen = [by_name[name] for name in sorted(needed & by_name.keys())]
    files |= {f"src/{entry['name']}": Path(entry["path"]) for entry in chosen}
    files["LICENSE"] = Path(manifest["license"])
    texts["CMakeLists.txt"] = cmake_lists(manifest, files, chosen)
    texts["arm-none-eabi.cmake"] = toolchain_file({core["name"]: core["flags"] for core in manifest["cores"]})
    texts["README.md"] = readme(manifest)
    return {name: path for name, path in files.items() if name not in texts}, texts


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("there are no arguments but flags")
    manifest = json.loads(Path(_MANIFEST.value).read_text())
    try:
        files, texts = contents(manifest)
    except generate.Refused as error:
        print(f"error: {manifest['label']}: {error}", file=sys.stderr)
        sys.exit(1)
    data = {name: path.read_bytes() for name, path in files.items()} | {
        name: text.encode() for name, text in texts.items()
    }
    with zipfile.ZipFile(_ARCHIVE.value, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(data):
            # The earliest time that a .zip can say.
            entry = zipfile.ZipInfo(f"{manifest['name']}/{name}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data[name])


if __name__ == "__main__":
    app.run(main)
