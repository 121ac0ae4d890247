"""Clauses are well formed, and every one is found."""

from __future__ import annotations

import re

import pytest

from spec.clause import Clause, Level, release_key
from spec.registry import UnknownClauseError, all_clauses, clause
from spec.wire.remoting.released_code import ReleasedCode
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CODE = re.compile(r"\b([A-Z][A-Z_0-9]+) \((\d+)\)")
"""A code with its name, as in ``INVALID_PARAMETER (29)``."""
EXCEPTS_LATER_CODES = {"CLIENT-RETRY-002"}
"""Clauses of every release that except a code of later ones."""
SOURCE = re.compile(r"\d+\.\d+\.\d+ [\w.]+(\$\w+)?(#\w+)?")
FAMILIES = ["WIRE-FRAME", "WIRE-JSON", "WIRE-BINARY", "WIRE-COMMAND", "WIRE-FASTJSON"]
FAMILIES += ["WIRE-PROPERTIES", "WIRE-MESSAGEID", "CLIENT-UNIQKEY", "STORE-RECORD"]
FAMILIES += ["STORE-BLANK", "STORE-LOG", "STORE-QUEUE", "STORE-CHECKPOINT"]
FAMILIES += ["STORE-NAME", "INDEX-FILE", "INDEX-HEADER", "INDEX-ITEM", "INDEX-KEY"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_familys_clauses_are_found_and_cited(family: str) -> None:
    found = [one for one in all_clauses().values() if one.id.startswith(family + "-")]
    assert found
    for one in found:
        assert SOURCE.fullmatch(one.source), one.id
        assert release_key(one.source.split()[0]) >= release_key(one.since), one.id


def test_no_text_of_a_clause_refers_to_an_article_without_a_name() -> None:
    for one in all_clauses().values():
        parts = (one.text, one.untestable or "", *(hint[1] for hint in one.hints))
        assert [part for part in parts if "article" in part] == [], one.id


def codes_of(one: Clause) -> list[ReleasedCode]:
    """Return the codes that the text names; two names of one code are left out."""
    return [
        code
        for name, number in CODE.findall(one.text)
        for kind in (RequestCode, ResponseCode)
        if (code := kind.__members__.get(name)) is not None
        and (code.name, int(code)) == (name, int(number))
    ]


def test_a_clause_is_as_old_as_the_codes_that_it_names() -> None:
    too_old = [
        (one.id, one.since, code.name, code.since)
        for one in all_clauses().values()
        for code in codes_of(one)
        if release_key(one.since) < release_key(code.since)
        if one.id not in EXCEPTS_LATER_CODES
    ]
    assert too_old == []


def test_a_clause_is_looked_up_by_its_id() -> None:
    assert clause("WIRE-FRAME-002").level is Level.MUST
    with pytest.raises(UnknownClauseError):
        clause("WIRE-FRAME-999")


@pytest.mark.parametrize(
    ("release", "applies"),
    [("4.4.0", False), ("4.6.0", True), ("4.9.7", True), ("5.0.0", False)],
)
def test_a_clause_applies_from_its_first_release_to_its_last(
    release: str, applies: bool
) -> None:
    one = Clause(
        id="WIRE-TEST-001",
        level=Level.MUST,
        text="A test.",
        source="4.6.0 x.Y#z",
        since="4.6",
        until="4.9",
    )
    assert one.applies_to(release) is applies


@pytest.mark.parametrize(("clause_id", "text"), [("X-1", "A."), ("WIRE-A-001", "a")])
def test_a_malformed_clause_is_refused(clause_id: str, text: str) -> None:
    with pytest.raises(ValueError, match=clause_id):
        Clause(id=clause_id, level=Level.MUST, text=text, source="4.6.0 x.Y")
