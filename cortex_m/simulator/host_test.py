"""The host board keeps the contract of platform.h: the probe, run by the machine that built it."""

import subprocess
from pathlib import Path

_PROBE = Path("cortex_m/simulator/testing/probe").resolve()


def _run(*args, cwd=None):
    return subprocess.run([_PROBE, *args], cwd=cwd, capture_output=True, check=False, text=True, timeout=60)


def _values(process):
    return dict(line.split(": ") for line in process.stdout.splitlines())


def test_exit_status():
    assert [_run("exit", str(status)).returncode for status in (0, 1, 119)] == [0, 1, 119]


def test_state():
    values = _values(_run("state"))
    assert values["constructed"] == "21"
    assert values["board"] == "host"
    assert int(values["pool"]) == 256 << 20


def test_nothing_is_counted():
    values = _values(_run("ticks", "1000"))
    assert values == {"overhead": "0", "instructions": "0"}


def test_files(tmp_path):
    content = bytes(i * 11 % 256 for i in range(9_999))
    (tmp_path / "in.bin").write_bytes(content)
    (tmp_path / "out.bin").write_bytes(b"longer than nothing" * 1000)
    assert _values(_run("copy", "in.bin", "out.bin", cwd=tmp_path))["length"] == "9999"
    assert (tmp_path / "out.bin").read_bytes() == content


def test_missing_file(tmp_path):
    process = _run("copy", "nothing.bin", "out.bin", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (1, "error: cannot open nothing.bin\n")
