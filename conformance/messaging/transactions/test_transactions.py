"""Transactions: what a producer decides, and what is left to decide after that."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, body_of, now_ms, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.known_settings import expect_default
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.stored_messages import (
    record_of,
    records_of,
    send_bodies,
)
from conformance.messaging.transactions.half import Half, only_later_ones, send_half
from spec.store.message_record import Record
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

LONG_AGO_MS = 60_000
QUIET_S = 0.3


def delivered(broker: Client, topic: str, count: int) -> list[Record]:
    """Wait until queue 0 of *topic* has *count* messages and return them."""
    broker.wait_for_max_offset(topic=topic, offset=count)
    return records_of(broker.pull(topic=topic, offset=0))


@pytest.mark.clause("TXN-END-001", "TXN-END-002")
def test_a_commit_delivers_the_message_as_it_was_sent(
    broker: Client, topic: str, group: str
) -> None:
    sent = {"KEYS": "k", "TAGS": "t", "own": "ä"}
    half = send_half(broker, topic, group=group, flag=9, born_at_ms=99, properties=sent)
    expect_code(
        "TXN-END-001", half.end(broker), ResponseCode.SUCCESS, broker.transcript
    )
    (record,) = delivered(broker, topic, 1)
    stored = record_of(broker, half.response)
    expect_fields(
        "TXN-END-001",
        found={
            "body": record.body,
            "flag": record.flag,
            "born_at_ms": record.born_at_ms,
            "born_host": record.born_host,
        },
        expected={
            "body": b"half",
            "flag": 9,
            "born_at_ms": 99,
            "born_host": stored.born_host,
        },
        transcript=broker.transcript,
    )
    properties = decode_properties(record.properties)
    expect_fields(
        "TXN-END-001",
        found=properties,
        expected={**sent, "UNIQ_KEY": half.unique_key},
        transcript=broker.transcript,
    )
    expect(
        "TXN-END-002",
        found=(
            record.system_flags & Decision.ROLLBACK,
            record.prepared_transaction_offset,
        ),
        expected=(Decision.COMMIT, half.commit_log_offset),
        what="transaction bits, prepared transaction offset",
        transcript=broker.transcript,
    )


def committed_properties(broker: Client, topic: str, group: str) -> dict[str, str]:
    """Return the properties of a message that was committed to queue 0 of *topic*."""
    require_success(send_half(broker, topic, group=group).end(broker))
    (record,) = delivered(broker, topic, 1)
    return decode_properties(record.properties)


@pytest.mark.clause("TXN-END-010")
def test_a_committed_message_still_says_where_it_was_to_go(
    broker: Client, topic: str, group: str
) -> None:
    expect_fields(
        "TXN-END-010",
        found=committed_properties(broker, topic, group),
        expected={"TRAN_MSG": "true", "REAL_TOPIC": topic, "REAL_QID": "0"},
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-END-018")
def test_a_committed_message_does_not_say_where_it_was_to_go(
    broker: Client, topic: str, group: str
) -> None:
    found = committed_properties(broker, topic, group)
    expect(
        "TXN-END-018",
        found=sorted({"REAL_TOPIC", "REAL_QID"} & set(found)),
        expected=[],
        what="properties of the half message",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-END-003")
def test_a_rollback_delivers_nothing(broker: Client, topic: str, group: str) -> None:
    half = send_half(broker, topic, group=group)
    response = half.end(broker, Decision.ROLLBACK)
    expect_code("TXN-END-003", response, ResponseCode.SUCCESS, broker.transcript)
    expect(
        "TXN-END-003",
        found=only_later_ones(broker, topic),
        expected=[b"ordinary"],
        what="bodies in the queue",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-END-004")
def test_no_decision_is_not_answered(broker: Client, topic: str, group: str) -> None:
    half = send_half(broker, topic, group=group)
    broker.peer.send(ending(half, Decision.UNKNOWN))
    expect(
        "TXN-END-004",
        found=broker.peer.is_silent(QUIET_S),
        expected=True,
        what="silence after a decision that is none",
        transcript=broker.transcript,
    )
    expect(
        "TXN-END-004",
        found=only_later_ones(broker, topic),
        expected=[b"ordinary"],
        what="bodies in the queue",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-END-017")
@pytest.mark.parametrize("decision", [1, 4, 16, -1])
def test_a_decision_that_is_none_of_the_three_is_refused(
    broker: Client, topic: str, group: str, decision: int
) -> None:
    half = send_half(broker, topic, group=group)
    response = broker.peer.request(ending(half, decision))
    expect_code("TXN-END-017", response, ResponseCode.SYSTEM_ERROR, broker.transcript)


def ending(half: Half, decision: int) -> Command:
    """Return END_TRANSACTION with a *decision* that Half.end would not make."""
    fields = {
        "producerGroup": half.group,
        "tranStateTableOffset": half.queue_offset,
        "commitLogOffset": half.commit_log_offset,
        "commitOrRollback": int(decision),
        "fromTransactionCheck": "false",
        "msgId": half.unique_key,
    }
    texts = {name: str(value) for name, value in fields.items()}
    return Command(code=RequestCode.END_TRANSACTION, fields=texts)


@pytest.mark.clause("TXN-END-005", "TXN-END-012")
def test_what_is_no_half_message_cannot_be_decided(
    broker: Client, topic: str, group: str
) -> None:
    (ordinary,) = send_bodies(broker, topic, [b"ordinary"])
    place = record_of(broker, ordinary).physical_offset
    for clause, offset in (("TXN-END-005", 2**40), ("TXN-END-012", place)):
        response = broker.end_transaction(
            group=group,
            commit_log_offset=offset,
            queue_offset=0,
            decision=Decision.COMMIT,
            message_id="none",
        )
        expect_code(clause, response, ResponseCode.SYSTEM_ERROR, broker.transcript)


@pytest.mark.clause("TXN-END-006", "TXN-END-007")
def test_a_stranger_cannot_decide(broker: Client, topic: str, group: str) -> None:
    half = send_half(broker, topic, group=group)
    stranger = half.end(broker, group=f"{group}_other")
    expect_code("TXN-END-006", stranger, ResponseCode.SYSTEM_ERROR, broker.transcript)
    elsewhere = half.end(broker, queue_offset=half.queue_offset + 1)
    expect_code("TXN-END-007", elsewhere, ResponseCode.SYSTEM_ERROR, broker.transcript)
    found = only_later_ones(broker, topic)
    for clause in ("TXN-END-006", "TXN-END-007"):
        expect(
            clause,
            found=found,
            expected=[b"ordinary"],
            what="bodies in the queue",
            transcript=broker.transcript,
        )


@pytest.mark.clause("TXN-END-008", "TXN-END-009")
@pytest.mark.parametrize(
    ("clause", "first", "count"),
    [
        ("TXN-END-008", Decision.COMMIT, 2),
        ("TXN-END-009", Decision.ROLLBACK, 1),
    ],
)
def test_a_decision_is_not_remembered(
    broker: Client, topic: str, group: str, clause: str, first: Decision, count: int
) -> None:
    half = send_half(broker, topic, group=group)
    require_success(half.end(broker, first))
    expect_code(clause, half.end(broker), ResponseCode.SUCCESS, broker.transcript)
    bodies = [record.body for record in delivered(broker, topic, count)]
    expect(
        clause,
        found=bodies,
        expected=[b"half"] * count,
        what="bodies delivered",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-END-011", "TXN-END-013")
def test_a_oneway_decision_by_place_counts(
    broker: Client, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    half.end(broker, oneway=True)
    found = [record.body for record in delivered(broker, topic, 1)]
    expect(
        "TXN-END-011",
        found=found,
        expected=[b"half"],
        what="bodies delivered",
        transcript=broker.transcript,
    )
    second = send_half(broker, topic, group=group, body=b"second")
    response = broker.end_transaction(
        group=group,
        commit_log_offset=second.commit_log_offset,
        queue_offset=second.queue_offset,
        decision=Decision.COMMIT,
        message_id="another",
        transaction_id="yet another",
    )
    expect_code("TXN-END-013", response, ResponseCode.SUCCESS, broker.transcript)


def send_late(broker: Client, topic: str, group: str) -> Half:
    """Send a half message whose own time has passed already."""
    born_at_ms = now_ms() - LONG_AGO_MS
    own = {"CHECK_IMMUNITY_TIME_IN_SECONDS": "1"}
    return send_half(broker, topic, group=group, born_at_ms=born_at_ms, properties=own)


@pytest.mark.clause("TXN-END-014")
def test_a_late_decision_counts(broker: Client, topic: str, group: str) -> None:
    half = send_late(broker, topic, group)
    expect_code(
        "TXN-END-014", half.end(broker), ResponseCode.SUCCESS, broker.transcript
    )


@pytest.mark.clause("TXN-END-015")
def test_a_late_decision_is_refused(broker: Client, topic: str, group: str) -> None:
    half = send_late(broker, topic, group)
    expect_code(
        "TXN-END-015",
        half.end(broker),
        ResponseCode.ILLEGAL_OPERATION,
        broker.transcript,
    )


@pytest.mark.clause("TXN-OP-004")
@pytest.mark.needs("config")
def test_notes_cannot_be_pulled(broker: Client, topic: str, group: str) -> None:
    require_success(send_half(broker, topic, group=group).end(broker))
    response = broker.pull(topic=OP_TOPIC, offset=0)
    expect_code("TXN-OP-004", response, ResponseCode.TOPIC_NOT_EXIST, broker.transcript)


@pytest.mark.clause("TXN-OP-005")
def test_the_topics_of_transactions_are_there(broker: Client) -> None:
    found = body_of(broker.all_topic_config())
    assert isinstance(found, dict)
    topics = found["topicConfigTable"]
    counts = [
        topics.get(name, {}).get("readQueueNums") for name in (HALF_TOPIC, OP_TOPIC)
    ]
    expect(
        "TXN-OP-005",
        found=counts,
        expected=[1, 1],
        what="read queues of both",
        transcript=broker.transcript,
    )


DEFAULTS = (
    pytest.param(
        "transactionTimeOut", "6000", marks=pytest.mark.clause("TXN-CHECK-017")
    ),
    pytest.param(
        "transactionCheckMax", "15", marks=pytest.mark.clause("TXN-CHECK-017")
    ),
    pytest.param(
        "transactionCheckInterval", "60000", marks=pytest.mark.clause("TXN-CHECK-018")
    ),
    pytest.param(
        "transactionCheckInterval", "30000", marks=pytest.mark.clause("TXN-CHECK-019")
    ),
)


@pytest.mark.parametrize(("name", "value"), DEFAULTS)
def test_a_broker_asks_after_its_default_times(
    broker: Client,
    target: SharedTarget,
    name: str,
    value: str,
    request: pytest.FixtureRequest,
) -> None:
    clause = request.node.get_closest_marker("clause").args[0]
    expect_default(clause, broker, target, name, value)
