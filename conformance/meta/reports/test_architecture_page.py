"""docs/architecture.md names files and functions that exist."""

from __future__ import annotations

import re

import pytest

from conformance.harness.targets.started.embedded import SOURCES

_PAGE = (SOURCES / "docs" / "architecture.md").read_text(encoding="utf-8")
_PLACES = sorted(set(re.findall(r"`([\w/]+\.py)` `([\w.]+)`", _PAGE)))
STOPS_MAX = 20


@pytest.mark.parametrize(("file", "name"), _PLACES)
def test_a_stop_exists(file: str, name: str) -> None:
    source = (SOURCES / file).read_text(encoding="utf-8")
    *owner, function = name.split(".")
    assert all(f"class {one}" in source for one in owner)
    assert f"def {function}(" in source or f"{function}:" in source


def test_the_ways_stops_are_few() -> None:
    assert 1 <= len(re.findall(r"^\| \d+ \|", _PAGE, re.MULTILINE)) <= STOPS_MAX


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_]+/[\w/.]+)`", _PAGE))))
def test_a_place_exists(path: str) -> None:
    assert (SOURCES / path).exists()
