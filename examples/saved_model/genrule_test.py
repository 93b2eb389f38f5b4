from pathlib import Path

_FOLDER = Path("examples/saved_model")


def test_the_genrules_program_is_the_rules():
    program = (_FOLDER / "net.pte").read_bytes()
    assert program[4:8] == b"ET12"
    assert (_FOLDER / "net_by_genrule.pte").read_bytes() == program
