"""What is generated for a runner, and what is refused, from hand-written program_info."""

import hashlib
import json

import pytest

from cortex_m.boards import boards
from cortex_m.runner import generate

_AN547 = boards.load("mps3_an547")
_KIB = 1 << 10
_MIB = 1 << 20


def _tensor(value, nbytes, memory_id):
    return {"value": value, "type": "tensor", "nbytes": nbytes, "memory_id": memory_id}


def _method(**changes):
    method = {
        "name": "forward",
        "sizes": {"operators": 2, "slots": 1, "arguments": 15, "integers": 6, "tensors": 0, "tensor_pointers": 0},
        "planned_bytes": [20464],
        "operators": ["aten::cat.out", "cortex_m::quantized_add.out"],
        "instructions": [
            {"index": 0, "kind": "kernel", "operator": "cortex_m::quantized_add.out"},
            {"index": 1, "kind": "move"},
            {"index": 2, "kind": "kernel", "operator": "aten::cat.out"},
        ],
        "inputs": [_tensor(0, 100, 1)],
        "outputs": [_tensor(9, 10, 1)],
    }
    return method | changes


_REPORT = {
    "instructions": [
        {"index": 0, "op": "cortex_m::quantized_add.out", "module": "block.add", "source": "net.py:3, in forward"},
        {"index": 2, "op": "aten::cat.out", "module": "head.join", "source": "net.py:12, in forward"},
    ]
}


def test_missing_kernel_names_operator_instruction_and_layer():
    with pytest.raises(generate.Refused) as caught:
        generate.check_kernels(_method(), {"cortex_m::quantized_add.out"}, _REPORT)
    assert str(caught.value) == (
        "operator aten::cat.out (instruction 2, layer head.join, net.py:12, in forward) has no kernel in this runner"
    )


def test_missing_kernel_without_a_report():
    with pytest.raises(generate.Refused) as caught:
        generate.check_kernels(_method(), set(), None)
    assert str(caught.value) == (
        "operator cortex_m::quantized_add.out (instruction 0) has no kernel in this runner; nor have aten::cat.out"
    )


def test_all_kernels_available():
    generate.check_kernels(_method(), {"cortex_m::quantized_add.out", "aten::cat.out", "aten::add.out"}, _REPORT)


def test_unplanned_ends_get_memory_once_and_aligned():
    method = _method(
        inputs=[_tensor(0, 100, 0), _tensor(1, 1, 1), {"value": 2, "type": "int"}],
        outputs=[_tensor(0, 100, 0), _tensor(9, 17, 0)],
    )
    assert generate.unplanned_bytes(method) == 112 + 32
    assert generate.arena_bytes(method) == 20464 + 112 + 32


@pytest.mark.parametrize(
    ("arena", "model", "expected"),
    [
        (20 * _KIB, 50 * _KIB, ("DTCM", "ITCM")),
        (20 * _KIB, 417 * _KIB, ("DTCM", "DDR")),  # more than 512 KiB less what the code may take
        (470 * _KIB, 50 * _KIB, ("SRAM", "ITCM")),  # not beside stack and state in 512 KiB
        (2 * _MIB, 4 * _MIB, ("SRAM", "DDR")),
        (2 * _MIB + 1, 4 * _MIB, ("DDR", "DDR")),
        (252 * _MIB, 4 * _MIB, ("DDR", "DDR")),
    ],
)
def test_placement_takes_the_first_memory_with_room(arena, model, expected):
    placement = generate.place(_AN547, arena, model)
    assert (placement.arena, placement.model) == expected


def test_arena_too_large_tells_both_sizes():
    with pytest.raises(generate.Refused) as caught:
        generate.place(_AN547, 252 * _MIB + 1, 4 * _MIB)
    assert str(caught.value) == (
        f"the arena of {252 * _MIB + 1} bytes does not fit board mps3_an547: "
        f"its largest memory for it, DDR, has {252 * _MIB} bytes left"
    )


def test_program_too_large_tells_both_sizes():
    with pytest.raises(generate.Refused) as caught:
        generate.place(boards.load("mps2_an386"), 1000, 16 * _MIB + 1)
    assert str(caught.value) == (
        f"the program of {16 * _MIB + 1} bytes does not fit board mps2_an386: "
        f"its largest memory for it, PSRAM, has {16 * _MIB} bytes left"
    )


def test_arena_in_a_chosen_memory():
    assert generate.place(_AN547, 1000, 1000, "DDR").arena == "DDR"
    with pytest.raises(generate.Refused, match="DTCM, has"):
        generate.place(_AN547, _MIB, 1000, "DTCM")
    with pytest.raises(generate.Refused, match="has no memory ITCM for the arena; it has DTCM, SRAM, DDR"):
        generate.place(_AN547, 1000, 1000, "ITCM")


def test_method_by_name():
    info = {"methods": [_method(), _method(name="encode")]}
    assert generate.method_of(info, None)["name"] == "forward"
    assert generate.method_of(info, "encode")["name"] == "encode"
    with pytest.raises(generate.Refused, match="no method decode; it has forward, encode"):
        generate.method_of(info, "decode")


def test_header_holds_the_numbers():
    header = generate.config_header(_method(planned_bytes=[20464, 0, 96]))
    assert "kVerifiedAtBuild = true;" in header
    assert "kVerifiedAtBuild = false;" in generate.config_header(_method(planned_bytes=[20464, 0, 96]), "init")
    assert "constexpr MethodSizes kSizes = {2, 1, 15, 6, 0, 0};" in header
    assert f"uint8_t arena[{20464 + 96}];" in header
    assert "{arena + 0, 20464}, {nullptr, 0}, {arena + 20464, 96}" in header
    assert "Unplanned() { return {nullptr, 0}; }" in header
    assert f"kArenaBytes = {20464 + 96};" in header


def _run(tmp_path, method, kernels, *more, target=None, program=b"program"):
    (tmp_path / "info.json").write_text(json.dumps({"file_bytes": 4000, "target": target, "methods": [method]}))
    (tmp_path / "kernels.txt").write_text("\n".join(kernels))
    (tmp_path / "net.pte").write_bytes(program)
    (tmp_path / "template").write_text('.incbin "$program"  /* $fingerprint */\n')
    names = {name: tmp_path / name for name in ("config", "selected", "placement", "assembly")}
    outputs = [f"--{name}={path}" for name, path in names.items()]
    inputs = [f"--program={tmp_path / 'net.pte'}", f"--template={tmp_path / 'template'}"]
    inputs += [f"--info={tmp_path / 'info.json'}", f"--kernels={tmp_path / 'kernels.txt'}", "--name=//examples:net"]
    return generate.main([*inputs, *outputs, *more]), names


def test_command_line(tmp_path):
    status, names = _run(tmp_path, _method(), _method()["operators"], "--core=cortex_m55")
    assert status == 0
    assert names["selected"].read_text() == "aten::cat.out\ncortex_m::quantized_add.out\n"
    assert names["placement"].read_text() == 'REGION_ALIAS("ARENA", DTCM)\nREGION_ALIAS("MODEL", ITCM)\n'
    assert "arena[20464]" in names["config"].read_text()


def test_another_program_makes_another_assembly(tmp_path):
    """An incremental build assembles again what has changed, and the compiler does not tell it of `.incbin`."""
    texts = set()
    for program in (b"program", b"Program"):
        _, names = _run(tmp_path, _method(), _method()["operators"], program=program)
        texts.add(names["assembly"].read_text())
        assert hashlib.sha256(program).hexdigest() in names["assembly"].read_text()
    assert len(texts) == 2


def test_command_line_for_the_host(tmp_path):
    status, names = _run(tmp_path, _method(planned_bytes=[1 << 30]), _method()["operators"])
    assert status == 0
    assert names["placement"].read_text() == ""


def test_refusal_is_one_sentence_and_writes_nothing(tmp_path, capsys):
    status, names = _run(tmp_path, _method(planned_bytes=[1 << 30]), _method()["operators"], "--core=cortex_m55")
    assert status == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: //examples:net: the arena of {1 << 30} bytes does not fit board mps3_an547")
    assert error.count("\n") == 1
    assert not any(path.exists() for path in names.values())


_M55 = {"core": "cortex-m55", "instruction_set": "MVE"}


@pytest.mark.parametrize(
    ("target", "core"),
    [
        (None, "cortex_m4"),
        ({"core": "any", "instruction_set": "any"}, "cortex_m4"),
        (_M55, "cortex_m85"),
        ({"core": "cortex-m55", "instruction_set": "SCALAR"}, "cortex_m55"),
        ({"core": "cortex-m55", "instruction_set": "SCALAR"}, "cortex_m0"),
    ],
)
def test_target_of_the_program_suits_the_core(tmp_path, target, core):
    assert _run(tmp_path, _method(), _method()["operators"], f"--core={core}", target=target)[0] == 0


def test_program_for_another_core_is_refused(tmp_path, capsys):
    status, names = _run(tmp_path, _method(), _method()["operators"], "--core=cortex_m4", target=_M55)
    assert status == 1 and not any(path.exists() for path in names.values())
    assert capsys.readouterr().err == (
        "error: //examples:net: it was exported for cortex-m55 (MVE), which is not for cortex-m4 (DSP): "
        "export it for cortex-m4, or for any\n"
    )


def test_the_host_runs_a_program_for_any_core(tmp_path):
    assert _run(tmp_path, _method(), _method()["operators"], target=_M55)[0] == 0
