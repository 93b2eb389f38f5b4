"""Command lines of the simulators and how they are found."""

from pathlib import Path

import pytest

from cortex_m.boards import boards
from cortex_m.simulator import command, elf_size

_AN547 = boards.load("mps3_an547")
_AN386 = boards.load("mps2_an386")


def _install(folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_qemu_command():
    words = command.qemu_command(_AN547, Path("/a/x.elf"), ["--input", "a,b"])
    assert words[0] == "qemu-system-arm"
    assert words[words.index("-machine") + 1] == "mps3-an547"
    assert words[words.index("-icount") + 1] == "shift=5"
    assert words[words.index("-kernel") + 1] == "/a/x.elf"
    assert words[words.index("-semihosting-config") + 1] == "enable=on,target=native,arg=x.elf,arg=--input,arg=a,,b"


def test_fvp_command():
    words = command.fvp_command(
        _AN547, Path("/a/x.elf"), ["--input", "a.bin"], "/opt/FVP_Corstone_SSE-300", Path("/w"), 90.4
    )
    settings = {words[i + 1] for i, word in enumerate(words) if word == "-C"}
    assert {
        "cpu0.semihosting-enable=1",
        "cpu0.semihosting-cmd_line=x.elf --input a.bin",
        "cpu0.semihosting-cwd=/w",
        "cpu0.semihosting-stack_base=0",
        "cpu0.semihosting-heap_limit=0",
        "mps3_board.visualisation.disable-visualisation=1",
        "mps3_board.telnetterminal0.start_telnet=0",
    } <= settings
    assert words[0] == "/opt/FVP_Corstone_SSE-300"
    assert words[words.index("--timelimit") + 1] == "90"
    assert words[-2:] == ["-a", "/a/x.elf"]


def test_fvp_command_of_mps2():
    words = command.fvp_command(_AN386, Path("x.elf"), [], "FVP_MPS2_Cortex-M4", Path("/w"), 0.1)
    assert "armcortexm4ct.semihosting-enable=1" in words
    assert words[words.index("--timelimit") + 1] == "1"


def test_fvp_command_line_has_a_limit():
    with pytest.raises(ValueError, match="longer than the 256 of an FVP"):
        command.fvp_command(_AN547, Path("x.elf"), ["a" * 256], "FVP", Path("/w"), 60)


def test_fvp_is_found_in_fvp_path_before_path(tmp_path):
    on_path = _install(tmp_path / "bin", "FVP_Corstone_SSE-300_Ethos-U55")
    environment = {"PATH": str(tmp_path / "bin")}
    assert command.find_fvp(_AN547, environment) == on_path
    given = _install(tmp_path / "arm", "FVP_Corstone_SSE-300_Ethos-U55")
    assert command.find_fvp(_AN547, environment | {"FVP_PATH": str(tmp_path / "arm")}) == given
    assert command.find_fvp(_AN547, environment | {"FVP_PATH": given}) == given


def test_fvp_preference(tmp_path):
    _install(tmp_path, "FVP_Corstone_SSE-300")
    preferred = _install(tmp_path, "FVP_Corstone_SSE-300_Ethos-U65")
    assert command.find_fvp(_AN547, {"PATH": str(tmp_path)}) == preferred


def test_missing_fvp_says_what_was_looked_for(tmp_path):
    with pytest.raises(command.MissingSimulator, match="none of FVP_Corstone_SSE-300_Ethos-U55, .* on PATH"):
        command.find_fvp(_AN547, {"PATH": str(tmp_path)})


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF\x02\x01" + bytes(60), b"\x7fELF\x01\x01" + b"\xff" * 60])
def test_sizes_of_what_is_no_elf(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a 32-bit|is a damaged ELF"):
        elf_size.report(path)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("_ZN8cortex_m6Method4InitEi", "cortex_m::Method::Init"),
        ("_ZN8cortex_m12_GLOBAL__N_14FindILb1EEEiv", "cortex_m::(anonymous)::Find<>"),
        ("_ZN8cortex_m12_GLOBAL__N_14FindILb1EEEiv.isra.0", "cortex_m::(anonymous)::Find<>"),
        ("_ZZN1a1bEvENKUliE_clEi", "a::b"),  # a lambda in a::b
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_names_of_symbols(symbol, name):
    assert elf_size.plain_name(elf_size.demangle(symbol)) == name
