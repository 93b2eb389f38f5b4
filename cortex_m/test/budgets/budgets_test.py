"""What the tests that cortex_m_test declares say: run as Bazel runs them, from the folder of the workspace's runfiles."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

HERE = Path("cortex_m/test/budgets")
BASELINE = HERE / "net_baseline.json"


def run(test: str, *arguments: str) -> tuple[int, str, list[str]]:
    """Status, what it printed, and its errors without the name in front."""
    done = subprocess.run([HERE / test, *arguments], capture_output=True, text=True, check=False)
    errors = [re.sub(r"^error: \S+ on \w+: ", "", line) for line in done.stderr.splitlines()]
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, errors


def rows(text: str) -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for cells in (re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line)}


@pytest.fixture(scope="module")
def now(tmp_path_factory) -> Path:
    """A baseline of this moment: the one in the source tree may be of an older program."""
    path = tmp_path_factory.mktemp("now") / "baseline.json"
    assert run("plain_cortex_m55", f"--record={path}", "--record_cores=cortex_m55")[0] == 0
    return path


def altered_baseline(now: Path, folder: Path, change) -> str:
    """An argument for a baseline in which `change` altered the figures of this moment."""
    recorded = json.loads(now.read_text())
    change(recorded["cores"]["cortex_m55"])
    (folder / "then.json").write_text(json.dumps(recorded))
    return f"--baseline={folder}/then.json"


def vectors() -> tuple[np.ndarray, np.ndarray]:
    """The model's example input, and what the program must give for it."""
    folder = HERE / "net.vectors"
    index = json.loads((folder / "vectors.json").read_text())
    first = lambda kind: index[kind][0]
    x, y = (
        np.fromfile(folder / first(kind)["file"], np.float32).reshape(first(kind)["shape"])
        for kind in ("input", "expected")
    )
    return x, y


def test_one_line_of_figures_if_all_is_kept():
    status, printed, errors = run("kept_test_cortex_m55")
    assert (status, errors) == (0, [])
    (line,) = printed.splitlines()
    # The five samples: the example and four to judge by.
    assert "5 of 5 outputs equal the prediction, bit for bit" in line
    for figure in (r"flash [\d,]+ of [\d,]+ bytes \([+-][\d.]+ %\)", r"RAM [\d,]+ of", r"[\d,]+ of [\d,]+ instructions \(",
                   r"SQNR [\d.]+ dB, at least 25", r"top-1 agreement [\d.]+ %, at least 90, 5 samples"):  # fmt: skip
        assert re.search(figure, line), line


def test_a_part_that_is_large_enough_says_nothing_more():
    # flash of the budget's test and RAM, far below the 5.5 MiB and 1 MiB of this part.
    status, printed, errors = run("plain_cortex_m55", "--part=alif_e3_hp", "--part_cores=cortex_m55")
    assert (status, errors, len(printed.splitlines())) == (0, [], 1)


def test_a_part_of_another_core_is_tested_there():
    assert run("plain_cortex_m55", "--part=nrf51822", "--part_cores=cortex_m55,cortex_m0")[0] == 0
    status, _, errors = run("plain_cortex_m55", "--part=nrf51822", "--part_cores=cortex_m55")
    assert status == 1 and errors == ["the part nrf51822 has a cortex_m0, which is not among the cores cortex_m55"]


def test_a_part_that_nobody_knows_is_one_sentence():
    status, _, errors = run("plain_cortex_m55", "--part=nrf5", "--part_cores=cortex_m55")
    assert status == 1 and errors[0].startswith("there is no part nrf5 in parts.yaml; alike are nrf5340, ")


def test_what_is_over_its_budget_is_shown_beside_the_baseline(now, tmp_path):
    """When it was recorded, one layer and one function were smaller and another layer was not there."""

    def earlier(figures: dict) -> None:
        layers = list(figures["layers"])
        figures["layers"][layers[1]] -= 1000
        figures["inference"] -= 1000 + figures["layers"].pop(layers[3])
        figures["flash"]["code"] -= 100
        figures["symbols"]["cortex_m::Method::Execute"] -= 4
        figures["ram"]["arena"] //= 2

    status, printed, errors = run("exceeded_cortex_m55", altered_baseline(now, tmp_path, earlier))
    assert status == 1
    assert [error.split(" takes ")[0] for error in errors[:3]] == ["flash", "RAM", "an inference"]
    for error, budget in zip(errors, ("20,000", "2,000", "10,000")):
        assert re.search(rf"[\d,]+ \(\+[\d.]+ %\) over the budget of {budget}$", error)
    assert re.fullmatch(
        r"output 0 has an SQNR of [\d.]+ dB over 5 samples, and at least 90.5 dB are asked for", errors[3]
    )
    table = rows(printed)
    assert table["code"][2] == "+100" and table["cortex_m::Method::Execute"][2] == "+4"
    assert table["arena"][3] == "+100.0 %"
    (grown,) = [cells for name, cells in table.items() if name.startswith("1 cortex_m::quantized_conv2d")]
    # Another run has longer arguments, so that the timer that counts instructions ticks at other ones: one more or less.
    assert grown[2] in ("+999", "+1,000", "+1,001")
    (new,) = [cells for name, cells in table.items() if name.startswith("3 cortex_m::quantized_linear")]
    assert new[0] == "-" and new[3] == "new"


def test_another_compiler_is_named(now, tmp_path):
    def other(figures: dict) -> None:
        figures["compiler"] = "GCC: 99"

    _, printed, _ = run("exceeded_cortex_m55", altered_baseline(now, tmp_path, other))
    assert "The baseline was recorded with GCC: 99, this is GCC: " in printed


def test_without_a_baseline_the_failure_says_how_to_record_one():
    status, printed, errors = run("plain_cortex_m55", "--max_instructions=1000")
    assert status == 1
    assert len(errors) == 1 and "over the budget of 1,000" in errors[0]
    assert rows(printed)["total"][1] == "100.0 %"
    how = 'add baseline = "plain_baseline.json" to cortex_m_test plain, then run `bazel run //cortex_m/test/budgets:plain_record`'
    assert f"No baseline is recorded, so nothing says what grew: {how}" in printed


def test_a_baseline_that_is_named_but_not_there():
    status, printed, errors = run("unrecorded_cortex_m55")
    assert (status, printed) == (1, "")
    assert errors == [
        (
            "there is no baseline cortex_m/test/budgets/unrecorded.json yet; "
            "`bazel run //cortex_m/test/budgets:unrecorded_record` records it"
        )
    ]


def test_recording_writes_what_the_baseline_has(tmp_path):
    written = tmp_path / "new.json"
    status, _, errors = run(
        "exceeded_cortex_m55", f"--record={written}", "--record_cores=cortex_m55"
    )  # over its budgets
    assert (status, errors) == (0, [])
    fresh, recorded = (json.loads(path.read_text())["cores"]["cortex_m55"] for path in (written, BASELINE))
    assert fresh.keys() == recorded.keys()
    assert [layer.split(" ", 1)[0] for layer in fresh["layers"]] == [
        str(index) for index in range(len(fresh["layers"]))
    ]
    assert all(count > 0 for count in fresh["layers"].values())
    status, printed, _ = run("kept_test_cortex_m55", f"--baseline={written}")
    assert status == 0 and printed.count("(+0.0 %)") == 3


def test_wrong_bytes_fail_and_are_not_recorded(tmp_path):
    x, y = vectors()
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    given = [f"--input={tmp_path}/x.npy", f"--expected={tmp_path}/y.npy"]
    assert run("plain_cortex_m55", *given)[0] == 0
    assert run("kept_test_cortex_m55", *given)[0] == 0  # the accuracy has a budget: a reference, not the exact bytes
    y[0, 3] += 1.0
    np.save(tmp_path / "y.npy", y)
    status, _, errors = run("plain_cortex_m55", f"--record={tmp_path}/no.json", *given)
    assert status == 1
    assert len(errors) == 1 and re.fullmatch(
        r"output 0 differs from the prediction in \d of 24 bytes, the first at offset 1[2-5]", errors[0]
    )
    assert not (tmp_path / "no.json").exists()


@pytest.mark.parametrize(
    ("test", "arguments", "sentence"),
    [
        ("kept_test_cortex_m55", ["--input=no.npy", "--expected=no.npy"], "no.npy is no .npy file that can be read"),
        ("kept_test_cortex_m55", ["--expected=no.npy"], "has 1 inputs, but 0 files are given"),
        ("kept_test_cortex_m55", ["--max_ram_bytes=0"], "max_ram_bytes is 0; it must be above zero"),
        ("kept_test_cortex_m55", ["--min_top1_agreement=95"], "min_top1_agreement is 95; it is a part, 0 to 1"),
        ("host_test_host", ["--max_flash_bytes=10"], "max_flash_bytes is a budget of a board"),
        ("host_test_host", ["--min_sqnr_db=99"], "at least 99 dB are asked for"),
        ("host_test_host", ["--min_sqnr_db=1", "--min_top1_agreement=1", "--elf=no"], "No such file"),
    ],
)
def test_bad_input_is_one_sentence(test, arguments, sentence):
    status, printed, errors = run(test, *arguments)
    assert status == 1 and printed == ""
    assert len(errors) == 1 and sentence in errors[0], errors


def test_a_core_without_a_baseline(tmp_path):
    recorded = json.loads(BASELINE.read_text())
    del recorded["cores"]["cortex_m55"]
    (tmp_path / "then.json").write_text(json.dumps(recorded))
    status, _, errors = run("kept_test_cortex_m55", f"--baseline={tmp_path}/then.json")
    assert status == 1
    assert (
        "has nothing of cortex_m55, only of cortex_m4; `bazel run //cortex_m/test/budgets:kept_test_record` records it"
        in errors[0]
    )
