"""Lite pops: messages of the client's lite topics, each in its order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.harness.client.client import now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.client.requests.pops import INVISIBLE_MS
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.lite.requests import LiteClient, bodies
from conformance.messaging.stored_messages import record_of
from spec.store.message_record import decode_records
from spec.wire.message.multi_dispatch import OFFSETS, QUEUES
from spec.wire.message.properties import decode_properties
from spec.wire.pop.lite_topics import lite_queue
from spec.wire.pop.pop_receipt import ORDERED_REVIVE_QUEUE
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

SHORT_MS = 1_000
LONG_MS = 15_000
SOON_S = 5.0
QUIET_S = 0.3
CLOCK_MS = 1_000
"""Most that the broker's clock differs from ours."""


def expect_nothing(clause: str, client: LiteClient) -> None:
    """Fail *clause* unless a pop returns no message."""
    expect_code(
        clause,
        client.response(),
        ResponseCode.POLLING_TIMEOUT,
        client.broker.transcript,
    )


def popped_bodies(response: Command) -> list[bytes]:
    """Return the bodies of the response to a pop."""
    return bodies(decode_records(require_success(response).body))


@pytest.mark.clause("LITE-SEND-001")
def test_a_message_is_in_its_parent_and_its_lite_topic(lite: LiteClient) -> None:
    for lite_topic, count in (("a", 2), ("b", 1)):
        responses = lite.send(lite_topic, *[b"%d" % one for one in range(count)])
        for offset, response in enumerate(responses):
            record = record_of(lite.broker, response)
            expect(
                "LITE-SEND-001",
                found=record.topic,
                expected=lite.parent,
                transcript=lite.broker.transcript,
            )
            expect_fields(
                "LITE-SEND-001",
                found=decode_properties(record.properties),
                expected={
                    QUEUES: lite_queue(lite.parent, lite_topic),
                    OFFSETS: str(offset),
                },
                transcript=lite.broker.transcript,
            )


@pytest.mark.clause("LITE-POP-001")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"topic": "unknown_parent"}, ResponseCode.TOPIC_NOT_EXIST),
        ({"maxMsgNum": 33}, ResponseCode.INVALID_PARAMETER),
    ],
)
def test_pops_of_nothing_are_refused(
    lite: LiteClient, fields: dict[str, FieldValue], code: ResponseCode
) -> None:
    lite.subscribe("a")
    response = lite.response(**fields)
    expect_code("LITE-POP-001", response, code, lite.broker.transcript)


@pytest.mark.clause("LITE-POP-001")
@pytest.mark.parametrize("wrong", ["topic", "consumerGroup"])
def test_pops_without_a_bound_parent_are_refused(
    lite: LiteClient, light: Target, unique: Callable[[str], str], wrong: str
) -> None:
    lite.subscribe("a")
    create = create_topic if wrong == "topic" else create_group
    response = lite.response(**{wrong: create(light, unique("plain"))})
    expect_code(
        "LITE-POP-001",
        response,
        ResponseCode.INVALID_PARAMETER,
        lite.broker.transcript,
    )


@pytest.mark.clause("LITE-POP-002", "LITE-POP-003")
def test_a_pop_returns_the_oldest_of_what_is_subscribed(lite: LiteClient) -> None:
    lite.send("other", b"other 0")
    lite.send("a", b"a 0", b"a 1", b"a 2")
    lite.send("b", b"b 0", b"b 1")
    lite.subscribe("a", "b")
    began_ms = now_ms()
    response = lite.response(maxMsgNum=4)
    found = popped_bodies(response)
    whole = {b"a": [b"a 0", b"a 1", b"a 2"], b"b": [b"b 0", b"b 1"]}
    # The order of the two lite topics is not fixed.
    by_topic = {name: [one for one in found if one[:1] == name] for name in whole}
    expect(
        "LITE-POP-002",
        found=len(found),
        expected=4,
        what="number of messages",
        transcript=lite.broker.transcript,
    )
    expect(
        "LITE-POP-002",
        found=by_topic,
        expected={name: whole[name][: len(by_topic[name])] for name in whole},
        what="bodies of each lite topic",
        transcript=lite.broker.transcript,
    )
    expect_fields(
        "LITE-POP-003",
        found=response.fields,
        expected={
            "invisibleTime": str(INVISIBLE_MS),
            "reviveQid": str(ORDERED_REVIVE_QUEUE),
            "orderCountInfo": "0;0;0;0",
        },
        transcript=lite.broker.transcript,
    )
    popped_at_ms = int(response.fields["popTime"])
    expect_that(
        "LITE-POP-003",
        began_ms - CLOCK_MS <= popped_at_ms <= now_ms() + CLOCK_MS,
        found=popped_at_ms,
        expected=f"about {began_ms}",
        what="popTime",
        transcript=lite.broker.transcript,
    )


@pytest.mark.clause("LITE-POP-004", "LITE-POP-005")
def test_a_lite_topic_waits_for_its_popped_messages(lite: LiteClient) -> None:
    lite.subscribe("a", "b")
    expect_nothing("LITE-POP-005", lite)
    lite.send("a", b"a 0", b"a 1")
    first = lite.response(maxMsgNum=1, pollTime=LONG_MS)
    expect(
        "LITE-POP-004",
        found=popped_bodies(first),
        expected=[b"a 0"],
        transcript=lite.broker.transcript,
    )
    expect_nothing("LITE-POP-004", lite)
    lite.send("b", b"b 0")
    second = lite.response(pollTime=LONG_MS)
    expect(
        "LITE-POP-004",
        found=popped_bodies(second),
        expected=[b"b 0"],
        what="bodies while a is hidden",
        transcript=lite.broker.transcript,
    )


@pytest.mark.clause("LITE-POP-006")
def test_a_held_pop_gets_the_message_that_arrives(
    lite: LiteClient, light: Target
) -> None:
    lite.subscribe("a")
    with light.connect_to_broker() as connection:
        waiting = replace(lite, broker=connection)
        opaque = waiting.begin_pop(LONG_MS)
        silent = connection.peer.is_silent(QUIET_S)
        expect(
            "LITE-POP-006",
            found=silent,
            expected=True,
            what="silence before",
            transcript=connection.transcript,
        )
        lite.send("a", b"awaited")
        response = connection.peer.receive_response(opaque, timeout_s=SOON_S)
    with charged("LITE-POP-006", connection.transcript):
        found = popped_bodies(response)
    expect(
        "LITE-POP-006",
        found=found,
        expected=[b"awaited"],
        transcript=connection.transcript,
    )


@pytest.mark.long
@pytest.mark.clause("LITE-POP-007")
def test_messages_without_acknowledgement_are_popped_again(lite: LiteClient) -> None:
    sent = [b"a 0", b"a 1"]
    lite.send("a", *sent)
    lite.subscribe("a")
    first = decode_records(require_success(lite.response(invisibleTime=SHORT_MS)).body)
    again = lite.pop_until(len(sent))
    expect(
        "LITE-POP-007",
        found=bodies(again),
        expected=sent,
        what="bodies again",
        transcript=lite.broker.transcript,
    )
    expect(
        "LITE-POP-007",
        found=[one.physical_offset for one in again],
        expected=[one.physical_offset for one in first],
        what="commit-log offsets again",
        transcript=lite.broker.transcript,
    )
