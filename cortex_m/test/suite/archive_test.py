"""What a core's test would say of a wrong device: each kind of wrong answer is seen and placed."""

import pytest

from cortex_m.test.batch import RawResult
from cortex_m.test.suite.archive import Archive, ArchiveWriter, CaseJob

_BEFORE = bytes(range(100))
_REGIONS = (("input", 10, 20), ("scratch", 40, 44), ("out", 60, 64))


def _job(kind="example", expected=b"\x01\x02\x03\x04", regions=_REGIONS):
    return CaseJob("pad", "corner", kind, b"program", (_BEFORE,), expected, regions)


def _after(changes):
    after = bytearray(_BEFORE)
    after[60:64] = b"\x01\x02\x03\x04"
    for position, value in changes.items():
        after[position] = value
    return RawResult(outputs=(bytes(after),))


def test_the_right_answer_is_accepted_whatever_is_left_in_scratch():
    assert _job().difference(_after({})) is None
    assert _job().difference(_after({40: 200, 43: 201})) is None


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        (62, "out differs in 1 of 4 bytes, the first at offset 2: 255 instead of 3"),
        (10, "input differs in 1 of 10 bytes, the first at offset 0: 255 instead of 10"),
        (19, "input differs in 1 of 10 bytes, the first at offset 9"),
        (39, "wrote byte -1 of scratch"),
        (44, "wrote byte 4 of scratch, which has 4"),
        (64, "wrote byte 4 of out, which has 4"),
        (59, "wrote byte -1 of out"),
        (0, "wrote byte -10 of input"),
        (99, "wrote byte 39 of out"),
    ],
)
def test_each_wrong_byte_is_seen_and_placed(position, sentence):
    assert sentence in _job().difference(_after({position: 255}))


def test_tensors_in_memories_of_their_own():
    job = _job(regions=())
    assert job.difference(RawResult(outputs=(b"\x01\x02\x03\x04",))) is None
    assert "out differs in 1 of 4" in job.difference(RawResult(outputs=(b"\x01\x02\x03\x05",)))
    assert "3 bytes instead of 4" in job.difference(RawResult(outputs=(b"\x01\x02\x03",)))


def test_errors():
    refused = RawResult(error="pad: no (cortex_m::pad, instruction 0)")
    assert "was refused: pad: no" in _job().difference(refused)
    assert "crashed" in _job().difference(RawResult(error="a fault", crashed=True))
    assert "crashed" in _job("refusal").difference(RawResult(error="a fault", crashed=True))


def test_refusals():
    must = _job("refusal", expected=None)
    assert must.difference(RawResult(error="pad: too wide (cortex_m::pad, instruction 0)")) is None
    assert must.difference(_after({})) == "was run instead of refused"
    assert "without the operator's name" in must.difference(RawResult(error="no"))
    vague = "pad: the kernel library refused the arguments (cortex_m::pad, instruction 0)"
    assert "without a reason" in must.difference(RawResult(error=vague))
    may = _job("refusal")
    assert may.difference(_after({})) is None
    assert "out differs" in may.difference(_after({61: 9}))


def test_an_archive_gives_back_what_was_written(tmp_path):
    files = []
    for name in ("a.zip", "b.zip"):
        writer = ArchiveWriter()
        wide = writer.add_program(b"wide", (_BEFORE,), list(_REGIONS))
        assert writer.add_program(b"wide", (_BEFORE,), list(_REGIONS)) == wide
        narrow = writer.add_program(b"narrow", (_BEFORE,), [])
        writer.add_case("pad", "corner", "example", b"\x01", {"MVE": wide, "DSP": narrow})
        writer.add_case("add", "bad", "refusal", None, {"MVE": wide})
        writer.write(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    archive = Archive(tmp_path / "a.zip")
    assert archive.operators == ["add", "pad"]
    first, second = archive.jobs("MVE")
    assert (first.op, first.kind, first.program, first.inputs, first.expected) == (
        "pad",
        "example",
        b"wide",
        (_BEFORE,),
        b"\x01",
    )
    assert first.regions == _REGIONS and second.expected is None
    assert [job.program for job in archive.jobs("DSP")] == [b"narrow"]
