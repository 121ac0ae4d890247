"""A client that subscribes to lite topics of a parent topic and pops them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue, request
from conformance.harness.client.requests.pops import INVISIBLE_MS, receipt_fields
from conformance.harness.process.deadline import wait_until
from spec.store.message_record import Record, decode_records
from spec.wire.bodies.json_body import encode_body
from spec.wire.pop.lite_topics import (
    LITE_TOPIC_PROPERTY,
    LiteSubscription,
    LiteSubscriptions,
    SubscriptionAction,
    lite_queue,
)
from spec.wire.pop.pop_receipt import ORDERED_REVIVE_QUEUE, PopReceipt
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

POLL_S = 45.0
"""Most seconds until a broker finds the next messages of a subscription."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteClient:
    """One client of a group that is bound to a parent topic."""

    broker: Client
    broker_name: str
    parent: str
    group: str
    client_id: str

    def send(self, lite_topic: str, *bodies: bytes) -> list[Command]:
        """Send messages to a fresh lite topic, and wait until it holds them."""
        properties = {LITE_TOPIC_PROPERTY: lite_topic}
        responses = [
            require_success(
                self.broker.send_message(
                    topic=self.parent, body=body, properties=properties
                )
            )
            for body in bodies
        ]
        queue = lite_queue(self.parent, lite_topic)
        self.broker.wait_for_max_offset(topic=queue, offset=len(bodies))
        return responses

    def change(
        self, action: SubscriptionAction, *lite_topics: str, version: int = 0
    ) -> Command:
        """Change the subscription of the client (LITE_SUBSCRIPTION_CTL)."""
        one = LiteSubscription(
            action=action,
            client_id=self.client_id,
            group=self.group,
            parent=self.parent,
            lite_topics=lite_topics,
            version=version,
        )
        body = encode_body(LiteSubscriptions(subscriptions=(one,)))
        return self.broker.invoke(RequestCode.LITE_SUBSCRIPTION_CTL, body=body)

    def subscribe(self, *lite_topics: str) -> None:
        """Add lite topics to the subscription.

        Messages that they have already can be popped immediately. Later ones can be
        popped when the broker has dispatched an event for them (5.5.0
        broker.lite.LiteEventDispatcher).
        """
        require_success(self.change(SubscriptionAction.PARTIAL_ADD, *lite_topics))

    def pop_fields(self, **more: FieldValue) -> dict[str, FieldValue]:
        """Return the header of a lite pop that is not held, with *more*."""
        return {
            "clientId": self.client_id,
            "consumerGroup": self.group,
            "topic": self.parent,
            "maxMsgNum": 32,
            "invisibleTime": INVISIBLE_MS,
            "pollTime": 0,
            "bornTime": now_ms(),
            **more,
        }

    def response(self, **more: FieldValue) -> Command:
        """Pop, and return the response as it is."""
        return self.broker.invoke(RequestCode.POP_LITE_MESSAGE, self.pop_fields(**more))

    def begin_pop(self, poll_ms: int) -> int:
        """Send a pop that may be held for *poll_ms*, and return its opaque."""
        fields = self.pop_fields(pollTime=poll_ms)
        sent = request(RequestCode.POP_LITE_MESSAGE, fields)
        return self.broker.peer.send(sent).opaque

    def pop_until(self, count: int, **more: FieldValue) -> list[Record]:
        """Pop until *count* messages were returned."""
        found: list[Record] = []

        def has_all() -> bool:
            response = self.response(**more)
            if response.code != ResponseCode.POLLING_TIMEOUT:
                found.extend(decode_records(require_success(response).body))
            return len(found) >= count

        wait_until(has_all, what=f"{count} messages are popped", timeout_s=POLL_S)
        return found

    def receipt_fields(
        self,
        lite_topic: str,
        queue_offset: int,
        popped: Command,
        *,
        revive_queue_id: int = ORDERED_REVIVE_QUEUE,
    ) -> dict[str, FieldValue]:
        """Return the header that names a message of the pop with response *popped*."""
        receipt = PopReceipt(
            first_offset=0,
            popped_at_ms=int(popped.fields["popTime"]),
            invisible_ms=int(popped.fields["invisibleTime"]),
            revive_queue_id=revive_queue_id,
            broker_name=self.broker_name,
            queue_id=0,
            queue_offset=queue_offset,
        )
        fields = receipt_fields(self.parent, self.group, receipt)
        return {**fields, "liteTopic": lite_topic}

    def acknowledge(
        self, lite_topic: str, queue_offset: int, popped: Command, **more: FieldValue
    ) -> Command:
        """Acknowledge a message of the pop with response *popped*."""
        fields = self.receipt_fields(lite_topic, queue_offset, popped)
        return self.broker.invoke(RequestCode.ACK_MESSAGE, {**fields, **more})

    def committed(self, lite_topic: str) -> str | None:
        """Return the group's committed offset of a lite topic."""
        response = self.broker.query_offset(
            group=self.group, topic=lite_queue(self.parent, lite_topic), queue_id=0
        )
        return response.fields.get("offset")

    def query(self, code: RequestCode, **fields: FieldValue) -> Command:
        """Send an administrator's request about lite topics."""
        return self.broker.invoke(code, fields)


def bodies(records: Iterable[Record]) -> list[bytes]:
    """Return the bodies of *records*, in order."""
    return [one.body for one in records]
