"""Timed messages: how tests send them, and when they arrive."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.messaging.stored_messages import records_of
from spec.store.message_record import Record
from spec.wire.message.timed import TIMER_PRECISION_MS
from spec.wire.remoting.command import Command

SOON_MS = 2 * TIMER_PRECISION_MS
"""Delay of a timed message that a test awaits, in milliseconds.

A message due within one slot of the timer wheel may be delivered immediately.
"""
LATE_S = 15.0
"""Most seconds until a message of SOON_MS is delivered; brokers need 3."""
LATER_MS = 3_600_000
"""Delay of a message that is not due in a test's time, in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A topic for timed messages."""

    broker: Client
    topic: str

    def send(
        self, body: bytes, *, queue_id: int = 0, **properties: str | int
    ) -> Command:
        """Send a message with *properties*."""
        return self.broker.send_message(
            topic=self.topic,
            body=body,
            queue_id=queue_id,
            properties={name: str(value) for name, value in properties.items()},
        )

    def send_timed(self, body: bytes, *, delay_ms: int = SOON_MS) -> Command:
        """Send a message that is due in *delay_ms*; the response, a success."""
        due = now_ms() + delay_ms
        return require_success(self.send(body, TIMER_DELIVER_MS=due))

    def wait_for(self, count: int, *, queue_id: int = 0) -> list[Record]:
        """Wait until a queue holds *count* messages, and return them."""
        self.broker.wait_for_max_offset(
            topic=self.topic, offset=count, queue_id=queue_id, timeout_s=LATE_S
        )
        pulled = self.broker.pull(topic=self.topic, offset=0, queue_id=queue_id)
        return records_of(pulled)

    def max_offset(self, queue_id: int = 0) -> int:
        """Return the max offset of a queue."""
        response = self.broker.max_offset(topic=self.topic, queue_id=queue_id)
        return int(require_success(response).fields["offset"])
