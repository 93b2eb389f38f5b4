"""docs/measured.md has the recorded figures."""

from pathlib import Path

import pytest

from tools import bench_document


def test_the_page_is_fresh():
    page = Path("docs/measured.md").read_text()
    assert page == bench_document.updated(page), "python -m tools.bench_document docs/measured.md writes it anew"


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="has no lines"):
        bench_document.updated("# Measured\n")
