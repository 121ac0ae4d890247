"""The form of the files with observations of real releases."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from spec.observed import (
    OUTCOMES,
    EvidenceError,
    Observed,
    all_evidence,
    decode_observed,
    encode_observed,
    evidence_line,
    evidence_of,
)

OBSERVED = Observed(
    release="4.6.0",
    target="jvm:4.6.0",
    recorded="2026-01-31",
    java="21.0.1",
    suite_version="0.1.0",
    outcomes={"WIRE-FRAME-002": "unsupported", "WIRE-FRAME-001": "pass"},
    reasons={"WIRE-FRAME-002": "nobody listens"},
)


def test_a_file_is_read_as_it_was_written() -> None:
    assert decode_observed(encode_observed(OBSERVED)) == OBSERVED


def test_the_order_of_the_outcomes_is_not_in_the_file() -> None:
    turned = dict(sorted(OBSERVED.outcomes.items()))
    assert encode_observed(replace(OBSERVED, outcomes=turned)) == encode_observed(
        OBSERVED
    )


def test_every_outcome_is_counted() -> None:
    assert tuple(OBSERVED.totals) == OUTCOMES
    assert OBSERVED.totals["pass"] == OBSERVED.totals["unsupported"] == 1


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("schema", 2, "schema 1"),
        ("release", 4.6, "release is a text"),
        ("recorded", "", "recorded is a text"),
        ("outcomes", ["WIRE-FRAME-001"], "outcomes is an object"),
        ("outcomes", {"WIRE-FRAME-001": "green"}, "'green' is not an outcome"),
        ("reasons", {"WIRE-FRAME-002": None}, "reasons is an object"),
        ("totals", {"pass": 9}, "its totals"),
    ],
)
def test_a_malformed_file_is_refused(name: str, value: object, fault: str) -> None:
    values = json.loads(encode_observed(OBSERVED)) | {name: value}
    with pytest.raises(EvidenceError, match=fault):
        decode_observed(json.dumps(values))


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(EvidenceError, match="not JSON"):
        decode_observed("{")


def test_six_releases_are_evidence_the_oldest_first() -> None:
    found = tuple(all_evidence())
    assert found == ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")


def test_a_clause_has_its_evidence_by_release() -> None:
    assert evidence_of("WIRE-FRAME-002")["4.6.0"] == "pass"
    assert evidence_line("WIRE-FRAME-002").startswith("4.4.0, 4.6.0")
    # From 5.4 on a message is indexed by its tag.
    assert evidence_of("INDEX-KEY-005")["4.6.0"] == "not-applicable"
    assert evidence_line("INDEX-KEY-005") == "5.4.0, 5.5.0"
