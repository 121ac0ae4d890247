"""docs/glossary.md explains the terms of README.md, reports and code."""

from __future__ import annotations

import re

import pytest

from conformance.harness.pytest_plugin.options import SUITES
from conformance.harness.targets.started.embedded import SOURCES
from spec.clause import Level

_PAGE = (SOURCES / "docs" / "glossary.md").read_text(encoding="utf-8")
_ROWS = {
    term: line
    for line in _PAGE.splitlines()
    for term in re.findall(r"\*\*([\w -]+)\*\*", line.split(" | ")[0])
}
"""Row of each term."""


@pytest.mark.parametrize(
    "term",
    [
        *("clause", "area", "family", "level", "profile", "suite", "target"),
        *("core", "shell", "ports", "fixture", "evidence", "mutant"),
    ],
)
def test_a_term_of_this_project_is_explained(term: str) -> None:
    assert term in _ROWS


def test_every_level_and_suite_is_named() -> None:
    assert [one for one in Level if one not in _ROWS["level"]] == []
    assert [one for one in SUITES if one not in _ROWS["suite"]] == []
