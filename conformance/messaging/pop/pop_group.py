"""One group that pops one topic, and the receipts of its messages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import TooLateError, comes_true
from conformance.harness.pytest_plugin.expectations import expect
from conformance.messaging.stored_messages import send_bodies
from spec.store.message_record import Record, decode_records
from spec.wire.message.properties import decode_properties
from spec.wire.pop.pop_bodies import BatchAck
from spec.wire.pop.pop_receipt import (
    PopReceipt,
    TopicKind,
    decode_receipt,
    popped_queues_of,
)
from spec.wire.pop.pop_topics import topic_of_kind
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

RECEIPT_PROPERTY = "POP_CK"
AGAIN_S = 60.0
"""Most seconds until a message is popped again after its invisible time.

Brokers need 3 to 12: the checkpoint waits in a timer, and a revive thread follows.
"""
SHORT_MS = 2_000
"""Invisible time that tests wait for."""
TICK_MS = 100
"""Two clocks of a broker differ by less."""
NEVER_AGAIN = f"blocked by POP-REVIVE-001: no message comes again within {AGAIN_S:g} s"
"""Why a test has no verdict where the target never returns a popped message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoppedMessage:
    """One popped message."""

    record: Record
    receipt: PopReceipt
    response: Command
    """The response to its pop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """Whether the target returns popped messages again, observed while tests run."""

    is_dead: Callable[[], bool] = lambda: False
    """Whether the observation has ended without a message."""
    result: Callable[[], object] = lambda: None
    """Waits for the end of the observation, and returns whether a message came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopGroup:
    """A group that pops a topic."""

    broker: Client
    broker_name: str
    topic: str
    group: str
    revival: Revival = Revival()

    def send(self, bodies: Iterable[bytes], *, queue_id: int = 0) -> None:
        """Send messages to a fresh queue, and wait until it holds them."""
        send_bodies(self.broker, self.topic, bodies, queue_id=queue_id)

    @property
    def retry_topic(self) -> str:
        """Topic in which messages of this pair become visible again."""
        return self.topic_of_kind(TopicKind.RETRY)

    def topic_of_kind(self, kind: str) -> str:
        """Return the topic of this pair that has the messages of *kind*."""
        return topic_of_kind(kind, topic=self.topic, group=self.group)

    def response(self, **more: FieldValue) -> Command:
        """Pop, and return the response as it is."""
        return self.broker.pop(topic=self.topic, group=self.group, fields=more)

    def pop(self, **more: FieldValue) -> list[PoppedMessage]:
        """Pop, and return the messages; an empty list without any."""
        response = self.response(**more)
        if response.code == ResponseCode.POLLING_TIMEOUT:
            return []
        return self.popped(response)

    def popped(self, response: Command) -> list[PoppedMessage]:
        """Return the messages of the *response* to a pop."""
        records = decode_records(require_success(response).body)
        return [
            PoppedMessage(
                record=one, receipt=self._receipt(one, response), response=response
            )
            for one in records
        ]

    def pop_again(self, count: int, **more: FieldValue) -> list[PoppedMessage]:
        """Pop until *count* messages were returned."""
        found = self.pop_revived(count, **more)
        if len(found) < count:
            raise TooLateError(f"{count} messages are popped again", AGAIN_S)
        return found

    def pop_in_time(self, count: int, **more: FieldValue) -> list[PoppedMessage]:
        """Pop until *count* messages were returned, at most `AGAIN_S`; return them."""
        return _popped_in_time(lambda: self.pop(**more), count)

    def pop_revived(self, count: int, **more: FieldValue) -> list[PoppedMessage]:
        """Pop until *count* messages were returned again, or some in `AGAIN_S`.

        Without any, the running test is blocked on a target that never returns one.
        """
        found = _popped_in_time(
            lambda: self.pop(**more), count, is_futile=self.revival.is_dead
        )
        if not found:
            self.require_revival()
        return found

    def require_revival(self) -> None:
        """Block the running test on a target that returns no popped message again."""
        if self.revival.result() is False:
            blocked(NEVER_AGAIN)

    def acknowledge(self, popped: PoppedMessage, **more: FieldValue) -> Command:
        """Acknowledge a message."""
        return self.broker.acknowledge(
            topic=self.topic_of_kind(popped.receipt.topic_kind),
            group=self.group,
            receipt=popped.receipt,
            fields=more,
        )

    def require_change(self, popped: PoppedMessage, invisible_ms: int) -> Command:
        """Change the invisible time of a message; a refusal blocks the test."""
        response = self.change(popped, invisible_ms)
        if response.code != ResponseCode.SUCCESS:
            refusal = f"code {response.code}, {response.remark}"
            blocked(f"blocked by POP-INVISIBLE-001: a change is refused: {refusal}")
        return response

    def change(
        self, popped: PoppedMessage, invisible_ms: int, **more: FieldValue
    ) -> Command:
        """Change the invisible time of a message."""
        return self.broker.change_invisible_time(
            topic=self.topic_of_kind(popped.receipt.topic_kind),
            group=self.group,
            receipt=popped.receipt,
            invisible_ms=invisible_ms,
            fields=more,
        )

    def committed(self, queue_id: int = 0) -> int | None:
        """Return the committed offset of a queue."""
        response = self.broker.query_offset(
            group=self.group, topic=self.topic, queue_id=queue_id
        )
        return int(response.fields["offset"]) if not response.code else None

    def _receipt(self, record: Record, response: Command) -> PopReceipt:
        """Return the receipt of *record*: its own, or that of the response's header.

        5.0.0 returns a revived message without its own, under its retry topic.
        """
        own = decode_properties(record.properties).get(RECEIPT_PROPERTY)
        if own is not None:
            return decode_receipt(own)
        is_revived = record.topic == self.retry_topic
        kind = TopicKind.RETRY if is_revived else TopicKind.NORMAL
        fields = response.fields
        first = {
            one.queue: one.offsets[0]
            for one in popped_queues_of(fields, "startOffsetInfo")
            if one.topic_kind == kind
        }
        return PopReceipt(
            first_offset=first[str(record.queue_id)],
            popped_at_ms=int(fields["popTime"]),
            invisible_ms=int(fields["invisibleTime"]),
            revive_queue_id=int(fields["reviveQid"]),
            topic_kind=kind,
            broker_name=self.broker_name,
            queue_id=record.queue_id,
            queue_offset=record.queue_offset,
        )


def _popped_in_time(
    pop: Callable[[], list[PoppedMessage]],
    count: int,
    *,
    is_futile: Callable[[], bool] = lambda: False,
) -> list[PoppedMessage]:
    """Call *pop* until it has returned *count* messages, at most for `AGAIN_S`.

    Without any message so far, it ends as soon as more calls are futile.
    """
    found: list[PoppedMessage] = []

    def is_over() -> bool:
        found.extend(pop())
        return len(found) >= count or (not found and is_futile())

    comes_true(is_over, AGAIN_S)
    return found


def ack_of(pop_group: PopGroup, popped: PoppedMessage, *, bits: int) -> BatchAck:
    """Return an acknowledgement of the messages of one pop at the set *bits*."""
    receipt = popped.receipt
    data = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return BatchAck(
        group=pop_group.group,
        topic=pop_group.topic,
        topic_kind=receipt.topic_kind,
        start_offset=receipt.first_offset,
        queue_id=receipt.queue_id,
        revive_queue_id=receipt.revive_queue_id,
        popped_at_ms=receipt.popped_at_ms,
        invisible_ms=receipt.invisible_ms,
        bits=b64encode(data).decode("ascii"),
    )


def expect_again(
    pop_group: PopGroup, found: Iterable[bytes], expected: Iterable[bytes]
) -> None:
    """Fail POP-REVIVE-001 unless the *expected* bodies were *found*, each once."""
    expect(
        "POP-REVIVE-001",
        found=sorted(found),
        expected=sorted(expected),
        what=f"unacknowledged bodies popped again, at most {AGAIN_S:g} s later",
        transcript=pop_group.broker.transcript,
    )


def bodies(popped: Iterable[PoppedMessage]) -> list[bytes]:
    """Return the bodies of popped messages, in order."""
    return [one.record.body for one in popped]
