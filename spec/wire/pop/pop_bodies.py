"""
Bodies and a broker's own messages for pop consumption, from 5.0 on.

A broker records popped messages (tag ck) and acknowledgements (tags ack and bAck) in
the topic rmq_sys_REVIVE_LOG_CLUSTER, as JSON with short member names.
A message that is not acknowledged in time is popped again. Clients request their
assigned queues, and the mode of each: pop or pull.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.bodies.queue_name import QueueName

REVIVE_TOPIC_PREFIX = "rmq_sys_REVIVE_LOG_"
"""Before the cluster's name."""
REVIVE_GROUP = "CID_RMQ_SYS_REVIVE_GROUP"
"""Group whose consumed offset is a broker's last processed checkpoint."""
CHECKPOINT_TAG, ACK_TAG, ACKS_TAG = "ck", "ack", "bAck"

_POP = "5.3.3 org.apache.rocketmq.broker.processor.PopMessageProcessor"
_STORE = "5.3.3 org.apache.rocketmq.store.pop"

REVIVE_MESSAGES = Clause(
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
        "From 5.0 on, an acknowledgement message has the tag ack, and from 5.1.2 on "
        "bAck for several. It is JSON with the offset, or a list of offsets, and the "
        "identity of the pop."
    ),
    source=f"{_STORE}.AckMsg#ackOffset",
    since="5.0",
)
REVIVE_MESSAGE_KEY = Clause(
    id="STORE-POP-003",
    level=Level.MUST,
    text=(
        "The UNIQ_KEY of a ck or ack message is topic, queue, offset, group, time of "
        "the pop, broker and tag, with @ between them. That of a bAck message has "
        "the list of offsets and no broker."
    ),
    source=f"{_POP}#genCkUniqueId",
    since="5.0",
)
REVIVE_MESSAGE_WAITS = Clause(
    id="STORE-POP-004",
    level=Level.MUST,
    text=(
        "A ck message waits in the timer until a second before the messages of its "
        "pop become visible again, an ack message until that time."
    ),
    source=f"{_POP}#buildCkMsg",
    since="5.0",
)


class PopCheckpoint(OpenBody, frozen=True, kw_only=True):
    """The body of a revive message with the tag ck (Java: PopCheckPoint)."""

    start_offset: Annotated[int, Member("so", "first offset of the pop")] = 0
    popped_at_ms: Annotated[int, Member("pt", "when")] = 0
    invisible_ms: Annotated[int, Member("it", "how long they are hidden")] = 0
    bits: Annotated[int, Member("bm", "bit n: message n is acknowledged")] = 0
    count: Annotated[int, Member("n", "messages of the pop")] = 0
    queue_id: Annotated[int, Member("q", "their queue")] = 0
    topic: Annotated[str | None, Member("t", "their topic")] = None
    group: Annotated[str | None, Member("c", "who popped (Java: cid)")] = None
    revive_offset: Annotated[int, Member("ro", "of this message; 0 in it")] = 0
    offsets: Annotated[
        tuple[int, ...] | None, Member("d", "each message's offset minus the first")
    ] = None
    broker_name: Annotated[str | None, Member("bn", "where")] = None
    revive_at_ms: Annotated[
        int | None, Member("reviveTime", "when and how long, added; nobody reads it")
    ] = None
    put_again: Annotated[
        str | None, Member("rp", "how often this message was", since="5.3.1")
    ] = None
    is_suspended: Annotated[
        bool | None, Member("sp", "its next pop is no reconsumption", since="5.5")
    ] = None


class AckMsg(OpenBody, frozen=True, kw_only=True):
    """The body of a revive message with the tag ack, or bAck (BatchAckMsg).

    5.0.0 writes and reads only the long names. Later releases read both (5.1.0
    store.pop.AckMsg#ackOffset).
    """

    offset: Annotated[
        int, Member("ao", "what is acknowledged", alternate="ackOffset")
    ] = 0
    offsets: Annotated[
        tuple[int, ...] | None,
        Member("aol", "several, in bAck", since="5.1.2", alternate="ackOffsetList"),
    ] = None
    start_offset: Annotated[
        int, Member("so", "first offset of the pop", alternate="startOffset")
    ] = 0
    group: Annotated[
        str | None, Member("c", "who popped", alternate="consumerGroup")
    ] = None
    topic: Annotated[str | None, Member("t", "the topic", alternate="topic")] = None
    queue_id: Annotated[int, Member("q", "the queue", alternate="queueId")] = 0
    popped_at_ms: Annotated[int, Member("pt", "when", alternate="popTime")] = 0
    broker_name: Annotated[
        str | None, Member("bn", "where", alternate="brokerName")
    ] = None


class BatchAck(OpenBody, frozen=True, kw_only=True):
    """Acknowledgement of several messages of one pop."""

    group: Annotated[str, Member("c", "the group")]
    topic: Annotated[str, Member("t", "the topic")]
    topic_kind: Annotated[str, Member("r", "as in a receipt")]
    start_offset: Annotated[int, Member("so", "first offset of the pop")]
    queue_id: Annotated[int, Member("q", "the queue")]
    revive_queue_id: Annotated[int, Member("rq", "as in a receipt")]
    popped_at_ms: Annotated[int, Member("pt", "as in a receipt")]
    invisible_ms: Annotated[int, Member("it", "as in a receipt")]
    bits: Annotated[str, Member("b", "bit set in Base64: bit n is start offset + n")]


class BatchAckMessageRequestBody(OpenBody, frozen=True, kw_only=True):
    """The body of BATCH_ACK_MESSAGE."""

    broker_name: Annotated[str, Member("brokerName", "the broker")] = ""
    acks: Annotated[tuple[BatchAck, ...], Member("acks")] = ()


class QueryAssignmentRequestBody(OpenBody, frozen=True, kw_only=True):
    """The body of QUERY_ASSIGNMENT."""

    topic: Annotated[str, Member("topic", "the topic")]
    group: Annotated[str, Member("consumerGroup", "the group")]
    client_id: Annotated[str, Member("clientId", "client that sends the request")]
    strategy: Annotated[str, Member("strategyName", "such as AVG")]
    message_model: Annotated[str, Member("messageModel", "BROADCASTING or CLUSTERING")]


class MessageQueueAssignment(OpenBody, frozen=True, kw_only=True):
    """A queue that is a client's."""

    queue: Annotated[QueueName, Member("messageQueue", "the queue")]
    mode: Annotated[str, Member("mode", "PULL or POP")] = "PULL"
    attachments: Annotated[Mapping[str, str] | None, Member("attachments")] = None


class QueryAssignmentResponseBody(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_ASSIGNMENT."""

    assignments: Annotated[
        tuple[MessageQueueAssignment, ...], Member("messageQueueAssignments")
    ] = ()


class SetMessageRequestModeRequestBody(OpenBody, frozen=True, kw_only=True):
    """The body of SET_MESSAGE_REQUEST_MODE, and what messageRequestMode.json keeps."""

    topic: Annotated[str, Member("topic", "the topic")]
    group: Annotated[str, Member("consumerGroup", "the group")]
    mode: Annotated[str, Member("mode", "PULL or POP")] = "PULL"
    shared_queue_count: Annotated[
        int, Member("popShareQueueNum", "queues that others may pop too")
    ] = 0
