"""Explanations between releases, compared facts, and the printed report."""

from __future__ import annotations

from itertools import combinations

import pytest

from conformance.differential.compare import Counts, Exchange, ProgramRun
from conformance.differential.explain import ABSENT, EXPLANATIONS, Difference, explain
from conformance.differential.normalise import Reader, different
from conformance.differential.report import lines, report_of
from conformance.differential.run import Finding, Outcome
from conformance.differential.steps.reads import MaxOffset, Pull
from conformance.differential.steps.sends import Send, SendDelayed
from conformance.differential.steps.step import Nothing
from conformance.differential.undetermined import UNDETERMINED, reason_for
from conformance.differential.world import World
from conformance.harness.releases import STUDIED
from conformance.harness.targets.target import Target
from spec.host import Host
from spec.store.message_record import Record, encode_record
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command

REFUSED = Difference(
    kind="pull",
    path="code",
    target="29 INVALID_PARAMETER",
    against="1 SYSTEM_ERROR",
)


@pytest.fixture
def reader() -> Reader:
    """Return a reader of responses in a program whose names begin with p1_."""
    return Reader(World(Target("nobody"), "p1_"))


def sent(place: int, **more: str) -> Command:
    """Return a response that names the record at *place*."""
    message_id = encode_message_id(Host.ANY_V4, place)
    return Command(code=0, fields={"msgId": message_id, "queueId": "0", **more})


def test_explanations_are_about_some_releases_only() -> None:
    pairs = list(combinations(STUDIED, 2))
    for one in EXPLANATIONS:
        found = [pair for pair in pairs if one.separates(*pair)]
        assert 0 < len(found) < len(pairs), one


def test_a_difference_is_foretold_between_releases_that_a_clause_separates() -> None:
    found = explain(REFUSED, Pull(queue_id=7), releases=("5.3.3", "4.6.0"))
    assert found is not None
    assert "PULL-QUEUE-002" in found.clauses
    assert explain(REFUSED, Pull(queue_id=7), releases=("4.4.0", "4.6.0")) is None


def test_a_member_that_a_release_added_is_foretold() -> None:
    new = Difference(
        kind="consume stats",
        path="body.offsetTable.<the broker>/0/T0.pullOffset",
        target=ABSENT,
        against="0",
    )
    found = explain(new, MaxOffset(), releases=("4.9.7", "5.3.3"))
    assert found is not None
    assert found.since == "5.1"
    assert explain(new, MaxOffset(), releases=("4.6.0", "4.9.7")) is None


def test_places_are_called_by_the_order_in_which_they_were_seen(
    reader: Reader,
) -> None:
    places = [reader.facts(Send(), sent(at))["fields.msgId"] for at in (700, 90, 700)]
    assert [text.split(" of ")[0] for text in places] == [
        "record 1",
        "record 2",
        "record 1",
    ]


def test_a_record_is_read_field_by_field(reader: Reader) -> None:
    record = Record(
        topic="p1_T0",
        queue_id=1,
        queue_offset=5,
        physical_offset=99,
        body=b"x",
        properties="TAGS\x01a\x02",
    )
    facts = reader.facts(Pull(), Command(code=0, body=encode_record(record)))
    assert facts["records"] == "1"
    assert facts["records.0.topic"] == "T0"
    assert facts["records.0.properties.TAGS"] == "a"
    assert facts["records.0.stored_at_ms"] == "~"


def test_a_body_that_is_no_record_is_a_fact(reader: Reader) -> None:
    facts = reader.facts(Pull(), Command(code=0, body=b"no record"))
    assert facts["body"].startswith("cannot be read")


def test_offsets_of_shared_queues_are_not_compared(reader: Reader) -> None:
    response = sent(1, queueOffset="17")
    assert reader.facts(SendDelayed(), response)["fields.queueOffset"] == "~"
    assert reader.facts(Send(), response)["fields.queueOffset"] == "17"
    assert reason_for("pull.code") is None
    assert all(one.reason and one.paths for one in UNDETERMINED)


def test_of_different_codes_nothing_else_is_compared(reader: Reader) -> None:
    refused = reader.facts(Send(), Command(code=1))
    taken = reader.facts(Send(), sent(4))
    assert different(refused, taken) == ["code"]
    assert different({"code": Nothing.SILENCE.value}, refused) == ["code"]


def test_a_finding_shows_both_answers_to_every_request() -> None:
    same = {"code": "0 SUCCESS"}
    exchanges = [
        Exchange(step=Send(payload=b"m"), target=same, against=same),
        Exchange(
            step=MaxOffset(queue_id=1),
            target={**same, "fields.offset": "0"},
            against={**same, "fields.offset": "1"},
        ),
    ]
    difference = Difference(
        kind="max offset", path="fields.offset", target="0", against="1"
    )
    finding = Finding(
        program=(Send(),),
        program_run=ProgramRun(exchanges=exchanges, difference=difference),
        found_in=9,
        again=True,
    )
    outcome = Outcome(
        seed=3,
        examples=50,
        counts=Counts(programs=2),
        releases=("4.6.0", "5.3.3"),
        findings=[finding],
    )
    reported = list(lines(outcome, target="mine", against="theirs"))
    assert "finding 1: max offset.fields.offset: 0 of mine, 1 of theirs" in reported
    assert "  ✗  2  max offset queue_id=1" in reported
    assert "          mine    0 SUCCESS offset=0" in reported
    assert "          both    0 SUCCESS" in reported
    report = report_of(outcome, target="mine", against="theirs", command="rmqc test")
    assert report["seed"] == 3
    assert report["against"] == {"text": "theirs", "release": "5.3.3"}
