"""Acknowledgements of lite pops, and changes of their invisible time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.targets.target import Target
from conformance.messaging.lite.requests import LiteClient, bodies
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SHORT_MS = 1_500
TICK_MS = 100
"""Two clocks of a broker differ by less."""
SENT = [b"a 0", b"a 1"]


@pytest.mark.clause("LITE-ACK-001")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"offset": len(SENT) + 1}, ResponseCode.NO_MESSAGE),
        ({"queueId": 1}, ResponseCode.INVALID_PARAMETER),
    ],
)
def test_acknowledgements_of_nothing_are_refused(
    lite: LiteClient, fields: dict[str, FieldValue], code: ResponseCode
) -> None:
    lite.send("a", *SENT)
    lite.subscribe("a")
    popped = require_success(lite.response())
    response = lite.acknowledge("a", 0, popped, **fields)
    expect_code("LITE-ACK-001", response, code, lite.broker.transcript)


@pytest.mark.clause("LITE-ACK-001")
def test_acknowledgements_with_another_receipt_are_refused(lite: LiteClient) -> None:
    lite.send("a", *SENT)
    lite.subscribe("a")
    popped = require_success(lite.response())
    fields = lite.receipt_fields("a", 0, popped, revive_queue_id=1)
    response = lite.query(RequestCode.ACK_MESSAGE, **fields)
    expect_code(
        "LITE-ACK-001",
        response,
        ResponseCode.INVALID_PARAMETER,
        lite.broker.transcript,
    )


@pytest.mark.clause("LITE-ACK-001")
def test_acknowledgements_of_another_group_are_refused(
    lite: LiteClient, light: Target, unique: Callable[[str], str]
) -> None:
    lite.send("a", *SENT)
    lite.subscribe("a")
    popped = require_success(lite.response())
    group = create_group(light, unique("plain"))
    response = lite.acknowledge("a", 0, popped, consumerGroup=group)
    expect_code(
        "LITE-ACK-001",
        response,
        ResponseCode.INVALID_PARAMETER,
        lite.broker.transcript,
    )


@pytest.mark.clause("LITE-ACK-002")
def test_acknowledgements_advance_the_lite_topic(lite: LiteClient) -> None:
    lite.send("a", *SENT, b"a 2")
    lite.subscribe("a")
    popped = require_success(lite.response(maxMsgNum=len(SENT)))
    for offset in range(len(SENT)):
        require_success(lite.acknowledge("a", offset, popped))
        expect(
            "LITE-ACK-002",
            found=lite.committed("a"),
            expected=str(offset + 1),
            what="committed offset",
            transcript=lite.broker.transcript,
        )
    rest = lite.pop_until(1)
    expect(
        "LITE-ACK-002",
        found=bodies(rest),
        expected=[b"a 2"],
        what="popped next",
        transcript=lite.broker.transcript,
    )


@pytest.mark.clause("LITE-ACK-003")
def test_a_message_below_the_committed_offset_is_acknowledged(lite: LiteClient) -> None:
    lite.send("a", *SENT)
    lite.subscribe("a")
    popped = require_success(lite.response())
    for offset in range(len(SENT)):
        fields = lite.receipt_fields("a", offset, popped)
        lite.broker.invoke_oneway(RequestCode.ACK_MESSAGE, fields)
    wait_until(lambda: lite.committed("a") == str(len(SENT)), what="it is committed")
    response = lite.acknowledge("a", 0, popped)
    expect_code("LITE-ACK-003", response, ResponseCode.SUCCESS, lite.broker.transcript)


@pytest.mark.long
@pytest.mark.clause("LITE-INVISIBLE-001", "LITE-INVISIBLE-002")
def test_a_changed_time_decides_when_a_message_returns(lite: LiteClient) -> None:
    lite.send("a", SENT[0])
    lite.subscribe("a")
    popped = require_success(lite.response())
    began_ms = now_ms()
    fields = {**lite.receipt_fields("a", 0, popped), "invisibleTime": SHORT_MS}
    changed = require_success(
        lite.query(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, **fields)
    )
    ended_ms = now_ms()
    expect(
        "LITE-INVISIBLE-002",
        found=changed.fields["popTime"],
        expected=popped.fields["popTime"],
        what="popTime",
        transcript=lite.broker.transcript,
    )
    new_end_ms = int(changed.fields["popTime"]) + int(changed.fields["invisibleTime"])
    expect_that(
        "LITE-INVISIBLE-002",
        began_ms + SHORT_MS - TICK_MS <= new_end_ms <= ended_ms + SHORT_MS + TICK_MS,
        found=new_end_ms,
        expected=f"about {began_ms + SHORT_MS}",
        what="popTime and invisibleTime together",
        transcript=lite.broker.transcript,
    )
    again = lite.pop_until(1)
    waited_ms = now_ms() - began_ms
    expect(
        "LITE-INVISIBLE-001",
        found=bodies(again),
        expected=[SENT[0]],
        transcript=lite.broker.transcript,
    )
    expect_that(
        "LITE-INVISIBLE-001",
        waited_ms >= SHORT_MS - TICK_MS,
        found=waited_ms,
        expected=f"about {SHORT_MS} or more",
        what="milliseconds until it was popped again",
        transcript=lite.broker.transcript,
    )
