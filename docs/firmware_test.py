"""Every snippet of firmware.md stands in the example, which its own tests build and run."""

import re
from pathlib import Path

PAGE = Path("docs/firmware.md").read_text()


def test_snippets_are_excerpts_of_the_example():
    excerpts = re.findall(r"<!-- excerpt of (\S+) -->\n```\w*\n(.*?)```", PAGE, re.DOTALL)
    assert len(excerpts) == PAGE.count("```") // 2, "a snippet does not say where it is from"
    for path, text in excerpts:
        assert text in Path(path).read_text(), f"{path} has no such lines:\n{text}"


def test_attributes_are_those_of_the_rule():
    rule = Path("cortex_m/rules/library.bzl").read_text()
    signature = rule[rule.index("def cortex_m_library(") : rule.index('"""Declares a cc_library with a model')]
    for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE):
        for name in re.findall(r"`([a-z_]+)(?: = [^`]*)?`", row):
            if not name.startswith("keywords_"):
                assert re.search(rf"\b{name} = ", signature), name


def test_names_are_those_of_the_header():
    header = Path("cortex_m/firmware/library.h.template").read_text()
    for suffix in ("_init", "_run", "_input", "_output", "_error", "_error_subject", "_error_index"):
        assert f"${{c_name}}{suffix}(" in header and f"keywords{suffix}(" in PAGE
