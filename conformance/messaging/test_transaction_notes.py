"""
Notes about half messages: where a broker writes down which of them are decided.
"""

from __future__ import annotations

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.speaker import Speaker, now_ms, succeeded
from conformance.harness.target import TargetError
from conformance.harness.verdicts import expect, expect_that
from conformance.messaging.checking import (
    PATIENCE_S,
    TIMEOUT_MS,
    expect_silence,
    join,
    wait_for_progress,
)
from conformance.messaging.half import Half, send_half
from conformance.messaging.reading import records_from
from spec.store.message_record import Record
from spec.wire.properties import decode_properties
from spec.wire.transaction_checks import DONE_TAG
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC, Decision

A_WALK_MS = 1000
"""Longer than a broker needs for one walk over its half messages."""
ATTEMPTS = 10


def notes_about(speaker: Speaker, half: Half) -> list[Record]:
    """Return the notes that name a half message.

    They are looked for in the commit log: before 5.0 nobody can pull their topic.
    """
    number = str(half.queue_offset)
    return [
        record
        for record in records_from(speaker, half.commit_log_offset)
        if record.topic == OPERATIONS_TOPIC
        and number in record.body.decode().split(",")
    ]


def wait_for_note(speaker: Speaker, half: Half) -> Record:
    """Wait until the decision on a half message is noted; return the note."""
    wait_until(
        lambda: bool(notes_about(speaker, half)),
        what="the decision is noted",
        timeout_s=PATIENCE_S,
    )
    return notes_about(speaker, half)[0]


def noted_in_time(
    speaker: Speaker, topic: str, group: str, decision: Decision
) -> tuple[str, Half, Record]:
    """Return a group, its half message, and the note, written before it could be asked.

    A walk that began before the note may still ask about what is due then. Where we
    were too slow for that, another message of another group is tried.
    """
    for attempt in range(ATTEMPTS):
        own_group = f"{group}_{attempt}"
        sent_ms = now_ms()
        half = send_half(speaker, topic, group=own_group)
        succeeded(half.end(speaker, decision))
        note = wait_for_note(speaker, half)
        if now_ms() < sent_ms + TIMEOUT_MS - A_WALK_MS:
            return own_group, half, note
    raise TargetError(f"no decision was noted within {TIMEOUT_MS - A_WALK_MS} ms")


@pytest.mark.clause("TXN-NOTE-001", "TXN-CHECK-008", "TXN-CHECK-016")
@pytest.mark.parametrize("decision", [Decision.COMMIT, Decision.ROLLBACK])
def test_a_decision_is_noted_and_not_asked_for(
    asked: Speaker, place: str, group: str, decision: Decision
) -> None:
    own_group, half, note = noted_in_time(asked, place, group, decision)
    expect(
        "TXN-NOTE-001",
        found=(note.queue_id, decode_properties(note.properties).get("TAGS")),
        expected=(0, DONE_TAG),
        what="queue and tag of the note",
        transcript=asked.transcript,
    )
    join(asked, own_group)
    # Who reads no notes passes it when it is due, and asks then.
    wait_for_progress(asked, HALF_TOPIC, half.queue_offset)
    expect_silence("TXN-CHECK-008", asked, "silence once the decision is noted")
    wait_for_progress(asked, OPERATIONS_TOPIC, 0)


@pytest.mark.clause("TXN-NOTE-002")
def test_a_note_is_a_number(asked: Speaker, place: str, group: str) -> None:
    succeeded(asked.send_message(topic=place))  # its offsets are no longer all 0
    half = send_half(asked, place, group=group)
    succeeded(half.end(asked))
    expect(
        "TXN-NOTE-002",
        found=wait_for_note(asked, half).body,
        expected=b"%d" % half.queue_offset,
        what="body of the note",
    )


@pytest.mark.clause("TXN-NOTE-003")
def test_a_note_is_numbers_with_commas(asked: Speaker, place: str, group: str) -> None:
    half = send_half(asked, place, group=group)
    succeeded(half.end(asked))
    body = wait_for_note(asked, half).body.decode()
    numbers = [number.isdecimal() for number in body.split(",")[:-1]]
    expect_that(
        "TXN-NOTE-003",
        body.endswith(",") and all(numbers),
        found=body,
        expected="numbers with a comma after each",
        what="body of the note",
    )
