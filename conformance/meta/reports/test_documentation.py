"""
docs/architecture.md names files that exist; docs/glossary.md explains the terms.
"""

from __future__ import annotations

import re

import pytest

from conformance.harness.pytest_plugin.options import SUITES
from conformance.harness.targets.started.embedded import SOURCES
from spec.clause import Level

_ARCHITECTURE = (SOURCES / "docs" / "architecture.md").read_text(encoding="utf-8")
_PLACES = sorted(set(re.findall(r"`([\w/]+\.py)` `([\w.]+)`", _ARCHITECTURE)))
STOPS_MAX = 20
_GLOSSARY = (SOURCES / "docs" / "glossary.md").read_text(encoding="utf-8")
_ROWS = {
    term: line
    for line in _GLOSSARY.splitlines()
    for term in re.findall(r"\*\*([\w -]+)\*\*", line.split(" | ")[0])
}
"""Row of each term."""


@pytest.mark.parametrize(("file", "name"), _PLACES)
def test_a_stop_exists(file: str, name: str) -> None:
    source = (SOURCES / file).read_text(encoding="utf-8")
    *owner, function = name.split(".")
    assert all(f"class {one}" in source for one in owner)
    assert f"def {function}(" in source or f"{function}:" in source


def test_the_ways_stops_are_few() -> None:
    assert 1 <= len(re.findall(r"^\| \d+ \|", _ARCHITECTURE, re.MULTILINE)) <= STOPS_MAX


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`([a-z_]+/[\w/.]+)`", _ARCHITECTURE)))
)
def test_a_place_exists(path: str) -> None:
    assert (SOURCES / path).exists()


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
