"""
Coverage of the request codes: ``docs/coverage/requests.toml`` lists each of them.

The list is compared with the header tables of the releases, so that a new release shows
its new codes as missing entries.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conformance.harness.targets.embedded import SOURCES
from spec.registry import all_clauses
from spec.wire.headers.header_table import read_table

FILE = SOURCES / "docs" / "coverage" / "requests.toml"
TABLES = sorted((SOURCES / "fixtures" / "headers").glob("[0-9]*.json"))
ENTRIES = tomllib.loads(FILE.read_text(encoding="utf-8"))["request"]
SHORTEST_REASON = 15


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.stem)
def test_every_request_code_of_a_release_has_an_entry(file: Path) -> None:
    table = read_table(json.loads(file.read_text(encoding="utf-8")))
    listed = {(one["code"], one["name"]) for one in ENTRIES}
    assert {(one.code, one.name) for one in table.requests} <= listed


def test_every_entry_is_of_a_release() -> None:
    tables = [read_table(json.loads(file.read_text())) for file in TABLES]
    known = {(one.code, one.name) for table in tables for one in table.requests}
    listed = [(one["code"], one["name"]) for one in ENTRIES]
    assert set(listed) <= known
    assert listed == sorted(set(listed)), "twice, or not in the order of the codes"


def test_an_entry_has_clauses_or_a_reason() -> None:
    for one in ENTRIES:
        assert ("clauses" in one) != ("reason" in one), one["name"]
        reason = one.get("reason", "x" * SHORTEST_REASON)
        assert len(reason) >= SHORTEST_REASON, f"{one['name']}: {reason!r} is too short"


def test_the_clauses_of_the_entries_exist() -> None:
    named = {clause for one in ENTRIES for clause in one.get("clauses", ())}
    assert named <= set(all_clauses())
