"""Half messages that a broker gives up after their last transaction check."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, now_ms
from conformance.harness.pytest_plugin.expectations import expect
from conformance.messaging.transactions.half import send_half
from conformance.messaging.transactions.transaction_checks import (
    HOUR_MS,
    MOST_QUESTIONS,
    expect_silence,
    given_up,
    join,
    old,
    question,
)
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.long


def receive_all_questions(client: Client, checked_topic: str, group: str) -> None:
    """Send an old half message, and receive each of its transaction checks."""
    join(client, group)
    send_half(client, checked_topic, group=group, born_at_ms=old())
    for _ in range(MOST_QUESTIONS):
        question(client)


@pytest.mark.clause("TXN-CHECK-009")
def test_a_message_is_given_up_after_the_last_question(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    receive_all_questions(checking_broker, checked_topic, group)
    records = given_up(checking_broker, checked_topic)
    expect(
        "TXN-CHECK-009",
        found=[one.body for one in records],
        expected=[b"half"],
        what="bodies given up",
        transcript=checking_broker.transcript,
    )
    expect_silence("TXN-CHECK-009", checking_broker, "no further question")


@pytest.mark.clause("TXN-CHECK-010")
def test_a_message_is_dropped_after_the_last_question(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    receive_all_questions(checking_broker, checked_topic, group)
    expect_silence("TXN-CHECK-010", checking_broker, "no further question")


@pytest.mark.clause("TXN-CHECK-011")
def test_a_message_as_old_as_files_is_given_up_unasked(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    send_half(
        checking_broker, checked_topic, group=group, born_at_ms=now_ms() - 73 * HOUR_MS
    )
    given_up(checking_broker, checked_topic)
    expect_silence("TXN-CHECK-011", checking_broker)


@pytest.mark.clause("TXN-CHECK-020")
def test_waiting_counts_as_being_asked(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    own = {"CHECK_IMMUNITY_TIME_IN_SECONDS": "600"}
    send_half(checking_broker, checked_topic, group=group, properties=own)
    given_up(checking_broker, checked_topic)
    expect_silence("TXN-CHECK-020", checking_broker)


@pytest.mark.clause("TXN-CHECK-014")
def test_looks_count_when_nobody_is_there(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    send_half(checking_broker, checked_topic, group=group, born_at_ms=old())
    (record,) = given_up(checking_broker, checked_topic)
    expect(
        "TXN-CHECK-014",
        found=decode_properties(record.properties).get("TRANSACTION_CHECK_TIMES"),
        expected=str(MOST_QUESTIONS),
        what="TRANSACTION_CHECK_TIMES of what was given up",
        transcript=checking_broker.transcript,
    )
