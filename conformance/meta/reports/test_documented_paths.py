"""Files and folders that the documents name exist, also those of a package's README."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.targets.started.embedded import SOURCES

PACKAGES = (
    *("bench", "cli", "columns", "conformance", "fixtures", "java_runtime"),
    *("packaging", "reference", "spark_checks", "spec"),
)
FOLDERS = tuple(f"{one}/" for one in (*PACKAGES, "docs"))
DOCUMENTS = [
    *sorted(SOURCES.glob("*.md")),
    *sorted((SOURCES / "docs").rglob("*.md")),
    *(file for one in PACKAGES for file in sorted((SOURCES / one).rglob("README.md"))),
]
SPAN = re.compile(r"`([\w*./-]+)`")
PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|RELEASE|R)(?![A-Z])")
"""Stands for a part of a path, as in ``fixtures/headers/R.json``."""


def wrong_paths(document: Path) -> Iterator[str]:
    """Yield the paths in code spans of *document* that do not exist.

    A path begins with a package, or names a Python file below the document's folder.
    """
    is_of_package = document.name == "README.md"
    for path in SPAN.findall(document.read_text(encoding="utf-8")):
        pattern = PLACEHOLDER.sub("*", path.rstrip("/"))
        is_of_sources = pattern.startswith(FOLDERS) and not pattern.endswith(".svg")
        is_below = is_of_package and "/" in pattern and pattern.endswith(".py")
        if not (is_of_sources or is_below) or any(SOURCES.glob(pattern)):
            continue
        if not (is_below and any(document.parent.rglob(pattern))):
            yield path


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(SOURCES).as_posix()
)
def test_documented_paths_exist(document: Path) -> None:
    wrong = list(wrong_paths(document))
    assert not wrong, f"{document.relative_to(SOURCES)} names paths that do not exist"
