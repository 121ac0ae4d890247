"""Batches that are refused, and what makes a request a batch."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, batch_body, require_success
from conformance.harness.client.tamper import append, replace_once, set_field
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.messaging.stored_messages import bodies_of, records_of
from spec.integers import body_crc
from spec.store.message_record import size_of_record
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.batch_body import batch_message_layout

TWO = batch_body([(b"one", {}), (b"two", {})])


def send(
    broker: Client,
    topic: str,
    *,
    body: bytes = TWO,
    code: int = RequestCode.SEND_BATCH_MESSAGE,
    batch: bool = True,
    system_flags: int = 0,
    properties: dict[str, str] | None = None,
) -> Command:
    """Send a batch, or a body in the form of a batch."""
    return broker.send_message(
        topic=topic,
        body=body,
        code=code,
        batch=batch,
        system_flags=system_flags,
        properties=properties,
    )


def expect_nothing_stored(clause: str, broker: Client, topic: str) -> None:
    """Fail *clause* unless the next message is the topic's first."""
    first = require_success(broker.send_message(topic=topic)).fields["queueOffset"]
    expect(
        clause,
        found=first,
        expected="0",
        what="queueOffset afterwards",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-007")
@pytest.mark.parametrize("flags", [4, 8, 12])
def test_a_batch_is_no_transaction(broker: Client, topic: str, flags: int) -> None:
    expect(
        "SEND-BATCH-007",
        found=send(broker, topic, system_flags=flags).code,
        expected=ResponseCode.MESSAGE_ILLEGAL,
        what="code",
        transcript=broker.transcript,
    )
    expect_nothing_stored("SEND-BATCH-007", broker, topic)


@pytest.mark.clause("SEND-BATCH-017")
def test_a_batch_has_a_body(broker: Client, topic: str) -> None:
    response = broker.send_batch(topic=topic, body=b"")
    expect_code(
        "SEND-BATCH-017", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )


@pytest.mark.clause("SEND-BATCH-008")
def test_a_batch_is_not_delayed(broker: Client, topic: str) -> None:
    expect(
        "SEND-BATCH-008",
        found=send(broker, topic, properties={"DELAY": "1"}).code,
        expected=ResponseCode.MESSAGE_ILLEGAL,
        what="code",
        transcript=broker.transcript,
    )
    expect_nothing_stored("SEND-BATCH-008", broker, topic)


@pytest.mark.clause("SEND-BATCH-008")
@pytest.mark.parametrize("level", ["0", "-1"])
def test_a_batch_without_a_level_of_delay_is_stored(
    broker: Client, topic: str, level: str
) -> None:
    expect_code(
        "SEND-BATCH-008",
        send(broker, topic, properties={"DELAY": level}),
        ResponseCode.SUCCESS,
        broker.transcript,
    )
    broker.wait_for_max_offset(topic=topic, offset=2)
    expect(
        "SEND-BATCH-008",
        found=bodies_of(broker.pull(topic=topic, offset=0)),
        expected=[b"one", b"two"],
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-009")
@pytest.mark.parametrize(
    "code", [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2]
)
def test_a_field_and_not_the_code_makes_a_batch(
    broker: Client, topic: str, code: int
) -> None:
    require_success(send(broker, topic, code=code))
    broker.wait_for_max_offset(topic=topic, offset=2)
    found = bodies_of(broker.pull(topic=topic, offset=0))
    expect(
        "SEND-BATCH-009",
        found=found,
        expected=[b"one", b"two"],
        what="bodies",
        transcript=broker.transcript,
    )
    require_success(send(broker, topic, batch=False))
    broker.wait_for_max_offset(topic=topic, offset=3)
    found = bodies_of(broker.pull(topic=topic, offset=2))
    expect(
        "SEND-BATCH-009",
        found=found,
        expected=[TWO],
        what="bodies after SEND_BATCH_MESSAGE (320) without batch",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-010", "WIRE-BATCH-003")
def test_the_broker_reckons_sizes_and_checksums_itself(
    broker: Client, topic: str
) -> None:
    wrong = (7).to_bytes(4, "big") + b"\xff" * 4 + b"\x12\x34\x56\x78"
    require_success(send(broker, topic, body=wrong + batch_body([(b"body", {})])[12:]))
    broker.wait_for_max_offset(topic=topic, offset=1)
    response = require_success(broker.pull(topic=topic, offset=0))
    found = (
        int.from_bytes(response.body[8:12], "big"),
        size_of_record(response.body),
    )
    expect(
        "SEND-BATCH-010",
        found=found,
        expected=(body_crc(b"body"), len(response.body)),
        what="checksum and size of the record",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-011")
def test_many_properties_of_a_batch_are_stored(broker: Client, topic: str) -> None:
    value = "v" * 32_000
    require_success(send(broker, topic, body=batch_body([(b"b", {"p": value})])))
    broker.wait_for_max_offset(topic=topic, offset=1)
    record = records_of(broker.pull(topic=topic, offset=0))[0]
    found = decode_properties(record.properties).get("p")
    expect(
        "SEND-BATCH-011",
        found=found == value,
        expected=True,
        what="equal values",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-011")
def test_too_many_properties_of_a_batch_are_refused(broker: Client, topic: str) -> None:
    longest = batch_body([(b"b", {"p": "v" * (32_767 - 3)})])
    sized = set_field(batch_message_layout, longest, "size", len(longest) + 1)
    body = append(replace_once(sized, b"\x7f\xff", b"\x80\x00"), b"\x02")
    code = send(broker, topic, body=body).code
    expect_that(
        "SEND-BATCH-011",
        code != ResponseCode.SUCCESS,
        found=code,
        expected="an error",
        what="code",
        transcript=broker.transcript,
    )
    expect_nothing_stored("SEND-BATCH-011", broker, topic)
