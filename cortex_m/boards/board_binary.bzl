"""`board_binary`: a program for the board of whatever platform it is built for, or for the host."""

load(":boards.bzl", "BOARDS")
load(":linker_script.bzl", "linker_script")

# config_settings of //cortex_m/boards: Bazel 4 takes no constraint_value as a condition of select(). Labels are made here, not
# where a macro is called: there they could be of another workspace.
_CORE = str(Label("//cortex_m/boards:is_"))
_HOST = _CORE + "host"

_NAMES = {_CORE + core: board["name"] for board in BOARDS.values() for core in board["cores"]}

# Name of the core, by platform: "" for the host.
CORE_NAME_OR_HOST = select(dict(
    {_CORE + core: core for board in BOARDS.values() for core in board["cores"]},
    **{"//conditions:default": ""}
))

# Name of the board, by platform. The host's value is never used.
BOARD_NAME = select(dict(_NAMES, **{"//conditions:default": "mps3_an547"}))

# cc_library of the board, by platform.
BOARD_LIBRARY = select(dict(
    {
        _CORE + core: Label("//cortex_m/boards/" + board["name"])
        for board in BOARDS.values()
        for core in board["cores"]
    },
    **{
        _HOST: Label("//cortex_m/boards/host"),
        "//conditions:default": Label("//cortex_m/boards:no_board"),
    }
))

def board_binary(
        name,
        srcs,
        deps = [],
        arena = None,
        model = None,
        placement = None,
        stack_bytes = 0,
        visibility = None,
        **kwargs):
    """Declares a cc_binary: an ELF that starts from reset on a device platform, a program on the host.

        board_binary(name = "hello", srcs = ["hello.cc"])
        # bazel build --platforms=//platforms:cortex_m55 :hello

    Args:
      name: of the cc_binary.
      srcs: sources; one defines main(argc, argv).
      deps: cc_library targets. The board is added.
      arena: memory of the .arena section, for all boards the program is built for; None for each board's fastest.
      model: memory of the .model section, likewise; None for each board's first choice.
      placement: label of a linker script fragment that says both, made at build time; instead of `arena` and `model`.
      stack_bytes: 0 for the board's default.
      visibility: of the cc_binary.
      **kwargs: other attributes of cc_binary.
    """
    script = name + "_linker_script"
    linker_script(
        name = script,
        board = BOARD_NAME,
        arena = arena,
        model = model,
        placement = placement,
        stack_bytes = stack_bytes,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    linkopts = kwargs.pop("linkopts", [])
    native.cc_binary(
        name = name,
        srcs = srcs,
        deps = deps + [Label("//cortex_m/boards:board")],
        additional_linker_inputs = kwargs.pop("additional_linker_inputs", []) + select({
            _HOST: [],
            "//conditions:default": [script] + ([placement] if placement else []),
        }),
        linkopts = linkopts + select({
            _HOST: [],
            # A section that the script does not place is an error that names it.
            "//conditions:default": ["-T$(location :%s)" % script, "-Wl,--orphan-handling=error"],
        }),
        linkstatic = True,
        visibility = visibility,
        **kwargs
    )
