"""
Coverage of the source articles: ``docs/coverage`` lists each testable statement.

Each has existing clauses, or the reason why it has none.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.targets.started.embedded import SOURCES
from spec.registry import all_clauses

COVERAGE = SOURCES / "docs" / "coverage"
FILES = sorted(COVERAGE.glob("*.toml"))
SHORTEST_REASON = 15
KEYS = {"section", "issue", "also", "says", "clauses", "reason"}


def statements(file: Path) -> list[dict[str, Any]]:
    """Return the statements that *file* lists, in the order of the article."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))["statement"]
    assert isinstance(found, list)
    return found


def named(statement: dict[str, Any]) -> str:
    """Return the words by which a reader finds *statement*."""
    heading = statement.get("section") or statement.get("issue")
    return f"{heading}: {statement.get('says')}"


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def file(request: pytest.FixtureRequest) -> Path:
    """Return each of the coverage files."""
    found = request.param
    assert isinstance(found, Path)
    return found


def test_there_is_something_to_check() -> None:
    assert FILES, f"no coverage file in {COVERAGE}"


def test_a_statement_has_clauses_or_a_reason(file: Path) -> None:
    for one in statements(file):
        assert set(one) <= KEYS, f"{named(one)}: {sorted(set(one) - KEYS)}"
        assert one.get("section") or one.get("issue"), named(one)
        assert str(one.get("says", "")).endswith("."), f"{named(one)}: no sentence"
        has = [bool(one.get("clauses")), bool(one.get("reason"))]
        assert sum(has) == 1, f"{named(one)}: clauses or a reason, and not both"
        reason = str(one.get("reason", "x" * SHORTEST_REASON))
        assert len(reason) >= SHORTEST_REASON, f"{named(one)}: {reason!r} says little"


def test_the_clauses_exist(file: Path) -> None:
    unknown = {
        clause: named(one)
        for one in statements(file)
        for clause in one.get("clauses", ())
        if clause not in all_clauses()
    }
    assert not unknown, unknown


def test_no_statement_is_listed_twice(file: Path) -> None:
    sentences = [one["says"] for one in statements(file)]
    twice = {one for one in sentences if sentences.count(one) > 1}
    assert not twice, twice


def test_an_issue_is_named_by_a_clause(file: Path) -> None:
    for one in statements(file):
        issues = [one["issue"], *one.get("also", ())] if "issue" in one else []
        listed = {
            i for name in one.get("clauses", ()) for i in all_clauses()[name].issues
        }
        assert "reason" in one or listed.issuperset(issues), (
            named(one),
            issues,
            listed,
        )
