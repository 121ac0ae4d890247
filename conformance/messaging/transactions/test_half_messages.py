"""Half messages are hidden, and a response contains the put status of each."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.messaging.stored_messages import record_of
from conformance.messaging.transactions.half import PREPARED, only_later_ones, send_half
from spec.wire.message.properties import decode_properties
from spec.wire.message.transactions import Decision


@pytest.mark.clause("TXN-HALF-001", "TXN-HALF-002", "TXN-HALF-003")
def test_a_half_message_is_not_in_its_queue(
    broker: Client, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group, system_flags=PREPARED)
    other = send_half(broker, topic, group=group, queue_id=3)
    expect(
        "TXN-HALF-001",
        found=only_later_ones(broker, topic),
        expected=[b"ordinary"],
        what="bodies in the queue",
        transcript=broker.transcript,
    )
    record = record_of(broker, half.response)
    expect(
        "TXN-HALF-002",
        found=record.system_flags & Decision.ROLLBACK,
        expected=0,
        what="transaction bits of the half message's record",
        transcript=broker.transcript,
    )
    expect_fields(
        "TXN-HALF-003",
        found=other.response.fields,
        expected={
            "queueId": "3",
            "queueOffset": str(record_of(broker, other.response).queue_offset),
        },
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-HALF-005")
@pytest.mark.parametrize(("value", "is_half"), [("TRUE", True), ("false", False)])
def test_a_half_message_says_so_in_any_case(
    broker: Client, topic: str, group: str, value: str, is_half: bool
) -> None:
    half = send_half(broker, topic, group=group, properties={"TRAN_MSG": value})
    found = record_of(broker, half.response).topic
    expect_that(
        "TXN-HALF-005",
        (found == topic) is not is_half,
        found=found,
        expected=f"another topic than {topic}" if is_half else topic,
        what=f"topic of the record of a message with TRAN_MSG {value}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-HALF-006")
def test_a_half_messages_response_has_no_transaction_id(
    broker: Client, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    expect(
        "TXN-HALF-006",
        found=half.response.fields.get("transactionId"),
        expected=None,
        what="transactionId",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-HALF-007")
def test_a_response_names_the_transaction(
    broker: Client, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    expect(
        "TXN-HALF-007",
        found=half.response.fields.get("transactionId"),
        expected=half.unique_key,
        what="transactionId",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-HALF-008")
def test_a_half_message_repeats_its_key(broker: Client, topic: str, group: str) -> None:
    half = send_half(broker, topic, group=group)
    record = record_of(broker, half.response)
    expect(
        "TXN-HALF-008",
        found=decode_properties(record.properties).get("__transactionId__"),
        expected=half.unique_key,
        what="__transactionId__",
        transcript=broker.transcript,
    )
