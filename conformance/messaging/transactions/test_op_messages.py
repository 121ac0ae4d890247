"""
Notes about half messages: where a broker writes down which of them are decided.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target, TargetError
from conformance.messaging.stored_messages import records_from
from conformance.messaging.transactions.half import Half, send_half
from conformance.messaging.transactions.transaction_checks import (
    PATIENCE_S,
    TIMEOUT_MS,
    expect_progress,
    expect_silence,
    join,
)
from spec.store.message_record import Record
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC
from spec.wire.message.transaction_checks import DONE_TAG
from spec.wire.message.transactions import Decision

A_WALK_MS = 1000
"""Longer than a broker needs for one walk over its half messages."""
ATTEMPTS = 10
BEFORE = ATTEMPTS + 1
"""Decisions before the deletion, of which the broker has recorded its progress."""


def notes_about(client: Client, half: Half) -> list[Record]:
    """Return the notes that name a half message.

    They are read from the commit log: before 5.0 their topic cannot be pulled.
    """
    number = str(half.queue_offset)
    return [
        record
        for record in records_from(client, half.commit_log_offset)
        if record.topic == OP_TOPIC and number in record.body.decode().split(",")
    ]


def wait_for_note(client: Client, half: Half) -> Record:
    """Wait until the decision on a half message is noted; return the note."""
    wait_until(
        lambda: bool(notes_about(client, half)),
        what="the decision is noted",
        timeout_s=PATIENCE_S,
    )
    return notes_about(client, half)[0]


def noted_in_time(
    client: Client, topic: str, group: str, decision: Decision
) -> tuple[str, Half, Record]:
    """Return a group, its half message, and its op message, written before any check.

    A check that began before the op message may still cover what is due then. Where we
    were too slow for that, another message of another group is tried.
    """
    for attempt in range(ATTEMPTS):
        own_group = f"{group}_{attempt}"
        sent_ms = now_ms()
        half = send_half(client, topic, group=own_group)
        require_success(half.end(client, decision))
        note = wait_for_note(client, half)
        if now_ms() < sent_ms + TIMEOUT_MS - A_WALK_MS:
            return own_group, half, note
    raise TargetError(f"no decision was noted within {TIMEOUT_MS - A_WALK_MS} ms")


@pytest.mark.clause("TXN-OP-001", "TXN-CHECK-008", "TXN-CHECK-016")
@pytest.mark.parametrize("decision", [Decision.COMMIT, Decision.ROLLBACK])
def test_a_decision_is_noted_and_not_asked_for(
    checking_broker: Client, checked_topic: str, group: str, decision: Decision
) -> None:
    own_group, half, note = noted_in_time(
        checking_broker, checked_topic, group, decision
    )
    expect(
        "TXN-OP-001",
        found=(note.queue_id, decode_properties(note.properties).get("TAGS")),
        expected=(0, DONE_TAG),
        what="queue and tag of the note",
        transcript=checking_broker.transcript,
    )
    join(checking_broker, own_group)
    # A release that ignores op messages passes it when it is due, and checks it then.
    expect_progress(checking_broker, HALF_TOPIC, half.queue_offset)
    expect_silence(
        "TXN-CHECK-008", checking_broker, "silence once the decision is noted"
    )
    expect_progress(checking_broker, OP_TOPIC, 0)


@pytest.mark.clause("TXN-CHECK-025", "TXN-CHECK-016")
def test_a_decision_counts_after_a_topic_was_deleted(
    checking_target: Target,
    checking_broker: Client,
    checked_topic: str,
    group: str,
    unique: Callable[[str], str],
) -> None:
    # Up to 4.8.0 the queue of op messages is deleted, too, and begins again at 0.
    deleted = create_topic(checking_target, unique("deleted"))
    for _ in range(BEFORE):
        half = send_half(checking_broker, checked_topic, group=group)
        require_success(half.end(checking_broker))
        last = wait_for_note(checking_broker, half)
    expect_progress(checking_broker, OP_TOPIC, last.queue_offset)
    require_success(checking_broker.delete_topic(topic=deleted))
    own_group, half, _ = noted_in_time(
        checking_broker, checked_topic, group, Decision.COMMIT
    )
    join(checking_broker, own_group)
    expect_progress(checking_broker, HALF_TOPIC, half.queue_offset)
    expect_silence("TXN-CHECK-025", checking_broker, "silence after the deletion")


@pytest.mark.clause("TXN-OP-002")
def test_a_note_is_a_number(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    require_success(
        checking_broker.send_message(topic=checked_topic)
    )  # its offsets are no longer all 0
    half = send_half(checking_broker, checked_topic, group=group)
    require_success(half.end(checking_broker))
    expect(
        "TXN-OP-002",
        found=wait_for_note(checking_broker, half).body,
        expected=b"%d" % half.queue_offset,
        what="body of the note",
        transcript=checking_broker.transcript,
    )


@pytest.mark.clause("TXN-OP-003")
def test_a_note_is_numbers_with_commas(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    half = send_half(checking_broker, checked_topic, group=group)
    require_success(half.end(checking_broker))
    body = wait_for_note(checking_broker, half).body.decode()
    numbers = [number.isdecimal() for number in body.split(",")[:-1]]
    expect_that(
        "TXN-OP-003",
        body.endswith(",") and all(numbers),
        found=body,
        expected="numbers with a comma after each",
        what="body of the note",
        transcript=checking_broker.transcript,
    )
