"""Requests of consumers that pop: pop, acknowledge, hide for longer, wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from conformance.harness.client.requests.invoker import FieldValue, Invoker, request
from conformance.harness.client.requests.messages import now_ms
from spec.wire.bodies.json_body import encode_body
from spec.wire.pop.pop_bodies import (
    BatchAckMessageRequestBody,
    QueryAssignmentRequestBody,
    SetMessageRequestModeRequestBody,
)
from spec.wire.pop.pop_message import ANY_QUEUE, InitMode
from spec.wire.pop.pop_receipt import PopReceipt, encode_receipt
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

Fields: TypeAlias = Mapping[str, FieldValue]
"""Header fields by name, as Java spells them."""
INVISIBLE_MS = 60_000
"""Invisible time that outlasts a test."""


class PopRequests(Invoker):
    """The requests of pop consumption, from 5.0 on."""

    def pop(self, *, topic: str, group: str, fields: Fields | None = None) -> Command:
        """Pop messages; *fields* replace those of :func:`pop_fields`."""
        return self.invoke(RequestCode.POP_MESSAGE, pop_fields(topic, group, fields))

    def begin_pop(self, *, topic: str, group: str, poll_ms: int) -> int:
        """Send a pop that may be held for *poll_ms*, and return its opaque."""
        fields = pop_fields(topic, group, {"pollTime": poll_ms})
        return self.peer.send(request(RequestCode.POP_MESSAGE, fields)).opaque

    def acknowledge(
        self,
        *,
        topic: str,
        group: str,
        receipt: PopReceipt,
        fields: Fields | None = None,
    ) -> Command:
        """Acknowledge the message of *receipt*; *fields* replace header fields."""
        sent = receipt_fields(topic, group, receipt) | dict(fields or {})
        return self.invoke(RequestCode.ACK_MESSAGE, sent)

    def acknowledge_all(self, acks: BatchAckMessageRequestBody | None) -> Command:
        """Acknowledge several messages (BATCH_ACK_MESSAGE); None sends no body."""
        body = b"" if acks is None else encode_body(acks)
        return self.invoke(RequestCode.BATCH_ACK_MESSAGE, body=body)

    def change_invisible_time(
        self,
        *,
        topic: str,
        group: str,
        receipt: PopReceipt,
        invisible_ms: int,
        fields: Fields | None = None,
    ) -> Command:
        """Hide the message of *receipt* for *invisible_ms* from now on."""
        sent = receipt_fields(topic, group, receipt) | dict(fields or {})
        sent["invisibleTime"] = invisible_ms
        return self.invoke(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, sent)

    def peek(
        self, *, topic: str, group: str, queue_id: int = 0, count: int = 32
    ) -> Command:
        """Get messages of a queue without hiding them."""
        return self.invoke(
            RequestCode.PEEK_MESSAGE,
            {
                "consumerGroup": group,
                "topic": topic,
                "queueId": queue_id,
                "maxMsgNums": count,
            },
        )

    def polling_count(self, *, topic: str, group: str, queue_id: int) -> Command:
        """Get the number of held pops (POLLING_INFO)."""
        return self.invoke(
            RequestCode.POLLING_INFO,
            {"consumerGroup": group, "topic": topic, "queueId": queue_id},
        )

    def begin_notification(self, *, topic: str, group: str, poll_ms: int) -> int:
        """Wait up to *poll_ms* for a message of any queue; return the opaque."""
        fields: dict[str, FieldValue] = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": ANY_QUEUE,
            "pollTime": poll_ms,
            "bornTime": now_ms(),
        }
        return self.peer.send(request(RequestCode.NOTIFICATION, fields)).opaque

    def query_assignment(self, question: QueryAssignmentRequestBody) -> Command:
        """Get the queues that are assigned to a client."""
        return self.invoke(RequestCode.QUERY_ASSIGNMENT, body=encode_body(question))

    def set_request_mode(self, mode: SetMessageRequestModeRequestBody) -> Command:
        """Set whether a group pulls or pops a topic."""
        return self.invoke(RequestCode.SET_MESSAGE_REQUEST_MODE, body=encode_body(mode))


def pop_fields(topic: str, group: str, fields: Fields | None) -> dict[str, FieldValue]:
    """Return the header of a pop of all queues that is not held, with *fields*."""
    return {
        "consumerGroup": group,
        "topic": topic,
        "queueId": ANY_QUEUE,
        "maxMsgNums": 32,
        "invisibleTime": INVISIBLE_MS,
        "pollTime": 0,
        "bornTime": now_ms(),
        "initMode": InitMode.MIN,
        "expType": "TAG",
        "exp": "*",
        "order": False,
        **(fields or {}),
    }


def receipt_fields(
    topic: str, group: str, receipt: PopReceipt
) -> dict[str, FieldValue]:
    """Return the header that names the popped message of *receipt*."""
    return {
        "consumerGroup": group,
        "topic": topic,
        "queueId": receipt.queue_id,
        "extraInfo": encode_receipt(receipt),
        "offset": receipt.queue_offset,
    }
