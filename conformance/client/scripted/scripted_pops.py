"""
Pops of a scripted broker: it assigns queues, and responds to pops and receipts.

Its messages are popped once. It returns no message again.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_server import ReceivedRequest, texts
from spec.host import Host
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.bodies.queue_name import QueueName
from spec.wire.message.properties import encode_properties
from spec.wire.pop.pop_bodies import (
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
)
from spec.wire.pop.pop_receipt import (
    PoppedQueue,
    PopReceipt,
    TopicKind,
    encode_popped_queues,
    encode_receipt,
)
from spec.wire.remoting.request_code import RequestCode

POP = RequestCode.POP_MESSAGE
ACK = RequestCode.ACK_MESSAGE
CHANGE = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
ASSIGN = RequestCode.QUERY_ASSIGNMENT
REVIVE_QUEUE = 3
INVISIBLE_MS = 60_000
FIRST_OFFSET = 40
"""Queue offset of the first message, so that it is no other number."""


@dataclass(slots=True, kw_only=True)
class ScriptedPops:
    """The queues of one topic at one broker, and the messages to pop."""

    broker: ScriptedBroker
    topic: str
    modes: Mapping[int, str] = field(default_factory=lambda: {0: "POP"})
    """Mode of each queue."""
    _waiting: deque[tuple[Record, PopReceipt]] = field(default_factory=deque)
    _held: list[ReceivedRequest] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.broker.on(ASSIGN, self._assign)
        self.broker.on(POP, self.pop)
        for code in (ACK, CHANGE):
            self.broker.on(code, self._confirm)

    def put(
        self,
        body: bytes,
        *,
        age_ms: int = 0,
        reconsume_times: int = 0,
        kind: str = TopicKind.NORMAL,
        **properties: str,
    ) -> PopReceipt:
        """Add a message that was popped *age_ms* ago, and return its receipt.

        One of another *kind* has its receipt in the property POP_CK.
        """
        offset = FIRST_OFFSET + self._count
        self._count += 1
        receipt = PopReceipt(
            first_offset=offset,
            popped_at_ms=time.time_ns() // 1_000_000 - age_ms,
            invisible_ms=INVISIBLE_MS,
            revive_queue_id=REVIVE_QUEUE,
            topic_kind=kind,
            broker_name=self.broker.name,
            queue_id=0,
            queue_offset=offset,
        )
        if kind != TopicKind.NORMAL:
            properties["POP_CK"] = encode_receipt(receipt)
        record = Record(
            topic=self.topic,
            queue_id=0,
            queue_offset=offset,
            physical_offset=offset * 1000,
            body=body,
            properties=encode_properties(properties),
            born_at_ms=1_600_000_000_000,
            born_host=Host.of("127.0.0.1", 1),
            stored_at_ms=1_600_000_000_001,
            store_host=Host.of(*self.broker.address),
            reconsume_times=reconsume_times,
        )
        self._waiting.append((record, receipt))
        while self._held and self._waiting:
            with contextlib.suppress(OSError):  # the client has gone meanwhile
                self.pop(self._held.pop(0))
        return receipt

    def pop(self, request: ReceivedRequest) -> None:
        """Respond to a pop with one message, or hold it."""
        if not self._waiting or request.command.fields.get("topic") != self.topic:
            self._held.append(request)
            return
        record, receipt = self._waiting.popleft()
        queue = PoppedQueue(
            topic_kind=receipt.topic_kind,
            queue=str(receipt.queue_id),
            offsets=(receipt.first_offset,),
        )
        fields = {
            "popTime": receipt.popped_at_ms,
            "invisibleTime": receipt.invisible_ms,
            "reviveQid": receipt.revive_queue_id,
            "restNum": len(self._waiting),
            "startOffsetInfo": encode_popped_queues([queue]),
            "msgOffsetInfo": encode_popped_queues(
                [replace(queue, offsets=(record.queue_offset,))]
            ),
        }
        request.respond(0, fields=texts(fields), body=encode_record(record))

    def wait_for(self, code: int, receipt: PopReceipt) -> ReceivedRequest:
        """Wait for the request of *code* about the message of *receipt*."""
        offset = str(receipt.queue_offset)

        def is_about(request: ReceivedRequest) -> bool:
            return request.command.fields.get("offset") == offset

        return self.broker.wait_for(code, where=is_about)[0]

    def requests_about(self, receipt: PopReceipt) -> list[str]:
        """Return the names of the requests received about a popped message."""
        return [
            RequestCode(one.command.code).name
            for one in self.broker.requests(ACK, CHANGE)
            if one.command.fields.get("offset") == str(receipt.queue_offset)
        ]

    def _assign(self, request: ReceivedRequest) -> None:
        body = decode_body(QueryAssignmentRequestBody, request.command.body)
        queues = [
            MessageQueueAssignment(
                queue=QueueName(
                    topic=self.topic, broker_name=self.broker.name, queue_id=queue_id
                ),
                mode=mode,
            )
            for queue_id, mode in self.modes.items()
            if body.topic == self.topic
        ]
        found = QueryAssignmentResponseBody(assignments=tuple(queues))
        request.respond(0, body=encode_body(found))

    @staticmethod
    def _confirm(request: ReceivedRequest) -> None:
        fields = {
            "popTime": time.time_ns() // 1_000_000,
            "invisibleTime": request.command.fields.get("invisibleTime", "0"),
            "reviveQid": REVIVE_QUEUE,
        }
        request.respond(0, fields=texts(fields))
