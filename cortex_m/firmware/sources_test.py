"""What is generated for a library, and what is refused, from hand-written program_info."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_m.firmware import package, sources
from cortex_m.runner.generate import Refused, fingerprint


def _tensor(dtype, sizes, nbytes, dim_order=None):
    order = dim_order or list(range(len(sizes)))
    return {
        "value": 0,
        "type": "tensor",
        "dtype": dtype,
        "sizes": sizes,
        "dim_order": order,
        "nbytes": nbytes,
        "memory_id": 1,
    }


def _method(**changes):
    return {
        "name": "forward",
        "sizes": {"operators": 1, "slots": 0, "arguments": 4, "integers": 0, "tensors": 0, "tensor_pointers": 0},
        "planned_bytes": [100, 32],
        "state_bytes": 0,
        "operators": ["cortex_m::quantized_add.out"],
        "instructions": [{"index": 0, "kind": "kernel", "operator": "cortex_m::quantized_add.out"}],
        "inputs": [_tensor("int8", [1, 3, 4, 4], 48, [0, 2, 3, 1]), _tensor("int64", [], 8)],
        "outputs": [_tensor("int8", [1, 10], 10)],
    } | changes


_REPORT = {
    "inputs": [{"scale": 0.5, "zero_point": -3}, {"scale": None, "zero_point": None}],
    "outputs": [{"scale": 0.1, "zero_point": 7}],
}

# Prints every constant of both languages, so that a compiler says what they are.
_MAIN = """
#include "net.h"
#include <cstdio>
static const int32_t shape[NET_INPUT_0_RANK] = NET_INPUT_0_SHAPE;
static const uint8_t order[NET_INPUT_0_RANK] = NET_INPUT_0_DIM_ORDER;
bool net_init(void) { return true; }
bool net_run(void) { return true; }
static int8_t image[48];
static int64_t number;
static int8_t result[10] = {1, 2};
void* net_input(size_t index) { return index == 0 ? static_cast<void*>(image) : &number; }
const int8_t* net_output(size_t) { return result; }
const char* net_error(void) { return ""; }
const char* net_error_subject(void) { return nullptr; }
int32_t net_error_index(void) { return -1; }
int main() {
  using In = net::Input<0>;
  using Out = net::Output<0>;
  static_assert(sizeof(NET_INPUT_1_TYPE) == 8 && sizeof(In::Type) == 1, "");
  std::printf("%d %d %d %d %d %d\\n", NET_PROGRAM_BYTES, NET_ARENA_BYTES, NET_INPUT_COUNT, NET_OUTPUT_COUNT, NET_INPUT_0_SIZE, NET_INPUT_1_SIZE);
  std::printf("%d %d %d %d | %d %d %d %d\\n", shape[0], shape[1], shape[2], shape[3], order[0], order[1], order[2], order[3]);
  std::printf("%g %d %g %d\\n", NET_INPUT_0_SCALE, NET_INPUT_0_ZERO_POINT, NET_OUTPUT_0_SCALE, NET_OUTPUT_0_ZERO_POINT);
  std::printf("%zu %zu %zu %g %d %g\\n", In::kSize, In::kBytes, In::kRank, In::kScale, In::kZeroPoint, Out::kScale);
  int64_t* typed = net::input<1>();
  std::printf("%d %d %d %d\\n", net_input_0() == image, typed == &number, net::output()[1], net::Init() && net::Run());
}
"""


def test_the_header_tells_both_languages_the_same(tmp_path):
    (tmp_path / "net.h").write_text(sources.header("net", "//a:net", 1234, _method(), _REPORT))
    (tmp_path / "main.cc").write_text(_MAIN)
    warnings = ["-Wall", "-Wextra", "-Wcast-qual", "-Wconversion", "-Wshadow", "-Werror", "-I", tmp_path]
    casts = ["-Wuseless-cast", "-Wold-style-cast"]
    subprocess.run(["gcc", "-std=c11", *warnings, "-x", "c", "-fsyntax-only", tmp_path / "net.h"], check=True)
    subprocess.run(["g++", "-std=c++17", *warnings, *casts, tmp_path / "main.cc", "-o", tmp_path / "main"], check=True)
    printed = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed == [
        "1234 144 2 1 48 1",  # 100 bytes of the first memory take 112
        "1 3 4 4 | 0 2 3 1",
        "0.5 -3 0.1 7",
        "48 48 4 0.5 -3 0.1",
        "1 1 2 1",
    ]


def test_accessors_are_typed_where_all_tensors_have_one_type():
    header = sources.header("net", "//a:net", 1, _method(), None)
    assert "void* net_input(size_t index);" in header and "const int8_t* net_output(size_t index);" in header
    assert "SCALE (" not in header and "kScale" not in header


def test_sections():
    source = sources.source("net", _method(), arena_section=".dtcm", state_section=".fast")
    assert 'uint8_t arena[144] __attribute__((section(".dtcm")));' in source
    assert 'memory[sizeof(State)] __attribute__((section(".fast")));' in source
    assert ".section .flash2," in sources.assembly("net", "net.pte", ".flash2", "ab12")
    with pytest.raises(Refused, match="'a b' is no name of a section"):
        sources.source("net", _method(), arena_section="a b")


def test_a_shared_arena_is_named_and_not_defined():
    source = sources.source("net", _method(), arena="both_memory")
    assert "extern uint8_t both_memory[];" in source and "{both_memory + 0, 100}, {both_memory + 112, 32}" in source
    assert "uint8_t arena[" not in source
    shared = {"shared_with": ["//a:net", "//a:other"], "shared_arena_bytes": sources.shared_arena_bytes([144, 300])}
    header = sources.header("net", "//a:net", 1, _method(), None, **shared)
    assert "shared by //a:net, //a:other" in header
    assert "#define NET_ARENA_BYTES 300 " in header and "#define NET_ARENA_NEEDED_BYTES 144 " in header
    assert "#define NET_ARENA_BYTES 144 " in sources.header("net", "//a:net", 1, _method(), None)
    assert "uint8_t both_memory[300]" in sources.arena_source("both_memory", [144, 300], "")


def test_who_verifies():
    assert "Program::LoadVerifiedAtBuild(" in sources.source("net", _method())
    assert "Program::Load(" in sources.source("net", _method(), verify_at="init")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: sources.check_arena_can_be_shared(_method(state_bytes=64)),
            (
                "it keeps 64 bytes of state in its arena from one run to the next, which another model would overwrite: "
                "it cannot share the arena"
            ),
        ),
        (
            lambda: sources.source("net", _method(inputs=[{"value": 0, "type": "int"}])),
            "input 0 is a number (int), and a library takes and gives tensors alone",
        ),
        (lambda: sources.names("2nd"), "'2nd' is no name that functions in C can begin with"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(Refused) as caught:
        call()
    assert str(caught.value) == sentence


def _run(folder: Path, *more: str, method=None) -> subprocess.CompletedProcess:
    (folder / "info.json").write_text(json.dumps({"target": None, "file_bytes": 9, "methods": [method or _method()]}))
    (folder / "available.txt").write_text("cortex_m::quantized_add.out\n")
    (folder / "net.pte").write_bytes(b"program")
    outputs = [f"--{name}={folder / name}" for name in ("header", "source", "assembly")]
    command = [
        sys.executable,
        "-m",
        "cortex_m.firmware.library",
        f"--info={folder / 'info.json'}",
        "--c_name=net",
        "--label=//a:net",
    ]
    command += [f"--kernels={folder / 'available.txt'}", f"--program={folder / 'net.pte'}", *outputs, *more]
    return subprocess.run(command, capture_output=True, check=False, text=True)


def test_a_run_writes_all_files(tmp_path):
    done = _run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "NET_PROGRAM_BYTES 7 " in (tmp_path / "header").read_text()
    assert f'.incbin "{tmp_path / "net.pte"}"' in (tmp_path / "assembly").read_text()


def test_another_program_makes_another_assembly(tmp_path):
    """An incremental build assembles again what has changed, and the compiler does not tell it of `.incbin`."""
    texts = []
    for content in (b"program", b"Program"):
        (tmp_path / "net.pte").write_bytes(content)
        texts.append(sources.assembly("net", "net.pte", "", fingerprint(tmp_path / "net.pte")))
    assert texts[0] != texts[1]
    assert hashlib.sha256(b"program").hexdigest() in texts[0]


def test_an_operator_without_a_kernel_is_one_sentence(tmp_path):
    unknown = _method(
        instructions=[{"index": 0, "kind": "kernel", "operator": "aten::erfinv.out", "source": "net.py:4"}]
    )
    done = _run(tmp_path, method=unknown)
    assert done.returncode == 1
    assert (
        done.stderr
        == "error: //a:net: operator aten::erfinv.out (instruction 0, net.py:4) has no kernel in this runner\n"
    )


def test_state_refuses_a_shared_arena(tmp_path):
    done = _run(tmp_path, "--arena=both", "--shared_with=//a:net", method=_method(state_bytes=8))
    assert done.returncode == 1 and done.stderr.startswith("error: //a:net: it keeps 8 bytes of state")


def test_a_package_refuses_two_libraries_of_one_name():
    one, other = ({"c_name": "net", "label": label} for label in ("//a:net", "//b:net"))
    package.check_names([one, one])
    with pytest.raises(Refused) as caught:
        package.check_names([one, other])
    assert str(caught.value) == "//a:net and //b:net are both called net: give one another c_name"
