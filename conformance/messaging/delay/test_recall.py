"""Recall of timed messages: handles, and messages that are never delivered."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.delay.timed_messages import LATER_MS, SOON_MS, Timed
from spec.wire.message.timed import (
    RecallHandle,
    decode_recall_handle,
    encode_recall_handle,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TIMER_DELAY_MAX_S = 3 * 24 * 3600

A_MINUTE_MS = 60_000
WITNESS_MS = SOON_MS + 2_000
"""Delay of a message that is due after the recalled one, in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller(Timed):
    """A topic for timed messages of a broker that recalls them."""

    broker_name: str

    def recall(self, handle: str | None, *, topic: str | None = None) -> Command:
        """Recall the message of *handle*."""
        fields = {
            "producerGroup": "suite_producer",
            "topic": topic or self.topic,
            "recallHandle": handle,
        }
        return self.broker.invoke(RequestCode.RECALL_MESSAGE, fields)

    def handle(self, *, delay_ms: int = LATER_MS) -> RecallHandle:
        """Return the handle of a message that the broker does not have."""
        return RecallHandle(
            topic=self.topic,
            broker_name=self.broker_name,
            time=str(now_ms() + delay_ms),
            unique_key="ABSENT",
        )

    def expect_refused(self, clause: str, handle: str | None) -> None:
        """Fail *clause* unless a recall with *handle* is refused."""
        response = self.recall(handle)
        expected = ResponseCode.ILLEGAL_OPERATION
        expect_code(clause, response, expected, self.broker.transcript)


@pytest.fixture
def recaller(recalling: Target, unique: Callable[[str], str]) -> Iterator[Recaller]:
    """Yield a new topic of a broker that recalls."""
    topic = create_topic(recalling, unique("topic"))
    with recalling.connect_to_broker() as client:
        name = recalling.broker_name
        yield Recaller(broker=client, topic=topic, broker_name=name)


@pytest.mark.clause("DELAY-RECALL-001", "DELAY-RECALL-002")
def test_a_timed_message_has_a_handle(
    broker: Client, topic: str, target: Target
) -> None:
    timed = Timed(broker=broker, topic=topic)
    key = "0A0000010000000000000000000000AB"
    due_ms = now_ms() + LATER_MS
    sent = require_success(timed.send(b"a", TIMER_DELIVER_MS=due_ms, UNIQ_KEY=key))
    with charged("DELAY-RECALL-001", broker.transcript):
        found = decode_recall_handle(sent.fields.get("recallHandle", ""))
    expect(
        "DELAY-RECALL-001",
        found=replace(found, time=""),
        expected=RecallHandle(
            topic=topic, broker_name=target.broker_name, time="", unique_key=key
        ),
        what="recallHandle",
        transcript=broker.transcript,
    )
    sent = require_success(timed.send(b"b"))
    found_handle = sent.fields.get("recallHandle")
    expect(
        "DELAY-RECALL-002",
        found=found_handle,
        expected=None,
        what="recallHandle",
        transcript=broker.transcript,
    )


@pytest.mark.clause("DELAY-RECALL-003")
@pytest.mark.settings(recallMessageEnable="false")
def test_a_recall_is_refused_by_default(broker: Client, topic: str) -> None:
    timed = Timed(broker=broker, topic=topic)
    sent = timed.send_timed(b"kept", delay_ms=LATER_MS)
    fields = {
        "producerGroup": "suite_producer",
        "topic": topic,
        "recallHandle": sent.fields.get("recallHandle"),
    }
    response = broker.invoke(RequestCode.RECALL_MESSAGE, fields)
    expected = ResponseCode.NO_PERMISSION
    expect_code("DELAY-RECALL-003", response, expected, broker.transcript)


@pytest.mark.long
@pytest.mark.clause("DELAY-RECALL-004")
def test_a_recalled_message_is_never_delivered(recaller: Recaller) -> None:
    recaller.send_timed(b"kept")
    recalled = [recaller.send_timed(b"recalled") for _ in range(2)]
    recaller.send_timed(b"witness", delay_ms=WITNESS_MS)
    for sent in recalled:
        handle = sent.fields.get("recallHandle", "")
        response = recaller.recall(handle)
        expect(
            "DELAY-RECALL-004",
            found=(response.code, response.fields.get("msgId")),
            expected=(ResponseCode.SUCCESS, decode_recall_handle(handle).unique_key),
            what="code and msgId",
            transcript=recaller.broker.transcript,
        )
    # The witness is due after the recalled messages, which would stand before it.
    expect(
        "DELAY-RECALL-004",
        found=[one.body for one in recaller.wait_for(2)],
        expected=[b"kept", b"witness"],
        what="bodies of the delivered messages",
        transcript=recaller.broker.transcript,
    )


@pytest.mark.clause("DELAY-RECALL-005")
def test_a_malformed_handle_is_refused(recaller: Recaller) -> None:
    good = recaller.handle()
    short = urlsafe_b64encode(b"v1 topic broker-a 1").decode()
    later_version = encode_recall_handle(replace(good, version="v2"))
    for handle in (None, "", "%%%", short, later_version):
        recaller.expect_refused("DELAY-RECALL-005", handle)


@pytest.mark.clause("DELAY-RECALL-006")
def test_a_handle_of_another_topic_or_broker_is_refused(recaller: Recaller) -> None:
    good = recaller.handle()
    for other in (
        replace(good, topic=f"{good.topic}_other"),
        replace(good, broker_name=f"{good.broker_name}_other"),
    ):
        recaller.expect_refused("DELAY-RECALL-006", encode_recall_handle(other))


@pytest.mark.long
@pytest.mark.clause("DELAY-RECALL-007")
@pytest.mark.settings(timerMaxDelaySec=str(TIMER_DELAY_MAX_S))
def test_a_delivered_message_is_not_recalled(recaller: Recaller) -> None:
    sent = recaller.send_timed(b"delivered")
    recaller.wait_for(1)
    recaller.expect_refused("DELAY-RECALL-007", sent.fields.get("recallHandle"))
    for delay_ms in (-A_MINUTE_MS, TIMER_DELAY_MAX_S * 1_000 + A_MINUTE_MS):
        handle = encode_recall_handle(recaller.handle(delay_ms=delay_ms))
        recaller.expect_refused("DELAY-RECALL-007", handle)


@pytest.mark.clause("DELAY-RECALL-008")
def test_a_recall_without_effect_succeeds(recaller: Recaller) -> None:
    sent = recaller.send_timed(b"twice", delay_ms=LATER_MS)
    handle = sent.fields.get("recallHandle")
    require_success(recaller.recall(handle))
    absent = encode_recall_handle(recaller.handle())
    for what, again in (("recalled already", handle), ("that no message has", absent)):
        expect(
            "DELAY-RECALL-008",
            found=recaller.recall(again).code,
            expected=ResponseCode.SUCCESS,
            what=f"code for a key {what}",
            transcript=recaller.broker.transcript,
        )


@pytest.mark.clause("DELAY-RECALL-009")
def test_a_recall_for_an_unknown_topic_is_refused(recaller: Recaller) -> None:
    topic = f"{recaller.topic}_unknown"
    handle = encode_recall_handle(replace(recaller.handle(), topic=topic))
    response = recaller.recall(handle, topic=topic)
    expected = ResponseCode.TOPIC_NOT_EXIST
    expect_code("DELAY-RECALL-009", response, expected, recaller.broker.transcript)
