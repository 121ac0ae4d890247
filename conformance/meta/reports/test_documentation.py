"""
Documents name files and folders that exist; docs/glossary.md explains the terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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
_PACKAGES = (
    *("bench", "cli", "columns", "conformance", "fixtures", "java_runtime"),
    *("packaging", "reference", "spark_checks", "spec"),
)
_FOLDERS = tuple(f"{one}/" for one in (*_PACKAGES, "docs"))
_DOCUMENTS = [
    *(file for file in sorted(SOURCES.glob("*.md")) if file.stem != "CHANGELOG"),
    *sorted((SOURCES / "docs").rglob("*.md")),
    *(file for one in _PACKAGES for file in sorted((SOURCES / one).rglob("README.md"))),
]
_SPAN = re.compile(r"`([\w*./-]+)`")
_PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|RELEASE|R)(?![A-Z])")
"""Stands for a part of a path, as in ``fixtures/headers/R.json``."""


@pytest.mark.parametrize(("file", "name"), _PLACES)
def test_a_stop_exists(file: str, name: str) -> None:
    source = (SOURCES / file).read_text(encoding="utf-8")
    *owner, function = name.split(".")
    assert all(f"class {one}" in source for one in owner)
    assert f"def {function}(" in source or f"{function}:" in source


def test_the_ways_stops_are_few() -> None:
    assert 1 <= len(re.findall(r"^\| \d+ \|", _ARCHITECTURE, re.MULTILINE)) <= STOPS_MAX


def _wrong_paths(document: Path) -> Iterator[str]:
    """Yield the paths in code spans of *document* that do not exist.

    A path begins with a package, or names a Python file below the document's folder.
    """
    is_of_package = document.name == "README.md"
    for path in _SPAN.findall(document.read_text(encoding="utf-8")):
        pattern = _PLACEHOLDER.sub("*", path.rstrip("/"))
        is_of_sources = pattern.startswith(_FOLDERS) and not pattern.endswith(".svg")
        is_below = is_of_package and "/" in pattern and pattern.endswith(".py")
        if not (is_of_sources or is_below) or any(SOURCES.glob(pattern)):
            continue
        if not (is_below and any(document.parent.rglob(pattern))):
            yield path


@pytest.mark.parametrize(
    "document", _DOCUMENTS, ids=lambda path: path.relative_to(SOURCES).as_posix()
)
def test_documented_paths_exist(document: Path) -> None:
    wrong = list(_wrong_paths(document))
    assert not wrong, f"{document.relative_to(SOURCES)} names paths that do not exist"


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
