"""
Bodies and a broker's own messages for pop consumption, from 5.0 on.

A broker records popped messages (tag ck) and acknowledgements (tags ack and bAck) in
the topic rmq_sys_REVIVE_LOG_CLUSTER, as JSON with short member names.
A message that is not acknowledged in time is popped again. Clients request their
assigned queues, and the mode of each: pop or pull.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import (
    INTEGER,
    TEXT,
    TRUTH,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)
from spec.wire.bodies.queue_name import QUEUE_NAME, QueueName

REVIVE_TOPIC_PREFIX = "rmq_sys_REVIVE_LOG_"
"""Before the cluster's name."""
REVIVE_GROUP = "CID_RMQ_SYS_REVIVE_GROUP"
"""Group whose consumed offset is a broker's last processed checkpoint."""
CHECKPOINT_TAG, ACK_TAG, ACKS_TAG = "ck", "ack", "bAck"

_POP = "5.3.3 org.apache.rocketmq.broker.processor.PopMessageProcessor"
_STORE = "5.3.3 org.apache.rocketmq.store.pop"

POP_NOTES = Clause(
    id="STORE-POP-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, a pop checkpoint message has the tag ck. It is JSON with first "
        "offset, time, invisible time, count and bits of the pop, its topic, group "
        "and queue."
    ),
    source=f"{_STORE}.PopCheckPoint#startOffset",
    since="5.0",
)
POP_ACKS = Clause(
    id="STORE-POP-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, an acknowledgement message has the tag ack, or bAck for "
        "several. It is JSON with the offset, or a list of offsets, and the identity "
        "of the pop."
    ),
    source=f"{_STORE}.AckMsg#ackOffset",
    since="5.0",
)
POP_NOTE_KEY = Clause(
    id="STORE-POP-003",
    level=Level.MUST,
    text=(
        "A pop or acknowledgement message's UNIQ_KEY is topic, queue, offset, group, "
        "time of the pop, broker and tag, with @ between them."
    ),
    source=f"{_POP}#genCkUniqueId",
    since="5.0",
)
POP_NOTE_WAITS = Clause(
    id="STORE-POP-004",
    level=Level.MUST,
    text=(
        "A ck message waits in the timer until a second before the messages of its "
        "pop become visible again, an ack message until that time."
    ),
    source=f"{_POP}#buildCkMsg",
    since="5.0",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopCheckpoint:
    """The body of a note with the tag ck (Java: PopCheckPoint)."""

    start_offset: int = member("so", INTEGER, "first offset of the pop", default=0)
    popped_at_ms: int = member("pt", INTEGER, "when", default=0)
    invisible_ms: int = member("it", INTEGER, "how long they are hidden", default=0)
    bits: int = member("bm", INTEGER, "bit n: message n is acknowledged", default=0)
    count: int = member("n", INTEGER, "messages of the pop", default=0)
    queue_id: int = member("q", INTEGER, "their queue", default=0)
    topic: str | None = member("t", TEXT, "their topic", default=None)
    group: str | None = member("c", TEXT, "who popped (Java: cid)", default=None)
    revive_offset: int = member("ro", INTEGER, "of the note; 0 in it", default=0)
    offsets: tuple[int, ...] | None = member(
        "d", list_of(INTEGER), "each message's offset minus the first", default=None
    )
    broker_name: str | None = member("bn", TEXT, "where", default=None)
    revive_at_ms: int | None = member(
        "reviveTime", INTEGER, "when and how long, added; nobody reads it", default=None
    )
    put_again: str | None = member(
        "rp", TEXT, "how often the note was", default=None, since="5.3.1"
    )
    is_suspended: bool | None = member(
        "sp",
        TRUTH,
        "its next pop is no reconsumption",
        default=None,
        since="5.5",
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMsg:
    """The body of a note with the tag ack, or bAck (BatchAckMsg)."""

    offset: int = member("ao", INTEGER, "what is acknowledged", default=0)
    offsets: tuple[int, ...] | None = member(
        "aol", list_of(INTEGER), "several, in bAck", default=None, since="5.1.2"
    )
    start_offset: int = member("so", INTEGER, "first offset of the pop", default=0)
    group: str | None = member("c", TEXT, "who popped", default=None)
    topic: str | None = member("t", TEXT, "the topic", default=None)
    queue_id: int = member("q", INTEGER, "the queue", default=0)
    popped_at_ms: int = member("pt", INTEGER, "when", default=0)
    broker_name: str | None = member("bn", TEXT, "where", default=None)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAck:
    """Acknowledgement of several messages of one pop."""

    group: str = member("c", TEXT, "the group")
    topic: str = member("t", TEXT, "the topic")
    topic_kind: str = member("r", TEXT, "as in a receipt")
    start_offset: int = member("so", INTEGER, "first offset of the pop")
    queue_id: int = member("q", INTEGER, "the queue")
    revive_queue_id: int = member("rq", INTEGER, "as in a receipt")
    popped_at_ms: int = member("pt", INTEGER, "as in a receipt")
    invisible_ms: int = member("it", INTEGER, "as in a receipt")
    bits: str = member("b", TEXT, "bit set in Base64: bit n is start offset + n")
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAckMessageRequestBody:
    """The body of BATCH_ACK_MESSAGE."""

    broker_name: str = member("brokerName", TEXT, "the broker", default="")
    acks: tuple[BatchAck, ...] = member(
        "acks", list_of(object_of(BatchAck)), "", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentRequestBody:
    """The body of QUERY_ASSIGNMENT."""

    topic: str = member("topic", TEXT, "the topic")
    group: str = member("consumerGroup", TEXT, "the group")
    client_id: str = member("clientId", TEXT, "who asks")
    strategy: str = member("strategyName", TEXT, "such as AVG")
    message_model: str = member("messageModel", TEXT, "BROADCASTING or CLUSTERING")
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueAssignment:
    """A queue that is a client's."""

    queue: QueueName = member("messageQueue", QUEUE_NAME, "the queue")  # noqa: RUF009
    mode: str = member("mode", TEXT, "PULL or POP", default="PULL")
    attachments: Mapping[str, str] | None = member(
        "attachments", map_of(TEXT, TEXT), "", default=None
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentResponseBody:
    """The response to QUERY_ASSIGNMENT."""

    assignments: tuple[MessageQueueAssignment, ...] = member(
        "messageQueueAssignments",
        list_of(object_of(MessageQueueAssignment)),
        "",
        default=(),
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessageRequestModeRequestBody:
    """The body of SET_MESSAGE_REQUEST_MODE, and what messageRequestMode.json keeps."""

    topic: str = member("topic", TEXT, "the topic")
    group: str = member("consumerGroup", TEXT, "the group")
    mode: str = member("mode", TEXT, "PULL or POP", default="PULL")
    shared_queue_count: int = member(
        "popShareQueueNum", INTEGER, "queues that others may pop too", default=0
    )
    rest: Mapping[str, object] = rest_of_members()
