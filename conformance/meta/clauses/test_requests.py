"""Coverage of the request codes: ``requests.toml`` of the headers lists each."""

from __future__ import annotations

import pytest

from conformance.harness.header_tables import known_codes, requests_of_releases
from conformance.harness.releases import STUDIED
from conformance.harness.report.evidence.request_coverage import (
    request_entries,
    requests_without_entry,
)
from spec.registry import all_clauses

ENTRIES = request_entries()
SHORTEST_REASON = 15


@pytest.mark.parametrize("release", requests_of_releases())
def test_every_request_code_of_a_release_has_an_entry(release: str) -> None:
    assert requests_without_entry(release) == []


def test_every_release_with_a_header_table_is_studied() -> None:
    assert set(requests_of_releases()) <= set(STUDIED)


def test_every_entry_is_of_a_release() -> None:
    known = {one for codes in requests_of_releases().values() for one in codes}
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


@pytest.mark.parametrize(
    ("release", "code", "expected"),
    [
        ("4.0.0", 10, True),
        ("4.4.0", 324, False),
        ("4.5.2", 324, False),
        ("4.6.0", 324, True),
        ("9.9.9", 324, True),
    ],
)
def test_a_release_knows_the_requests_of_the_one_studied_before(
    release: str, code: int, expected: bool
) -> None:
    assert (code in known_codes(release)) is expected
