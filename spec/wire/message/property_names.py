"""
Every property with a meaning for clients, brokers or proxies, and its first release.

``properties`` has their form and the names that this project uses. Here are all, with
the writer of each, so a reader can identify them and a producer can avoid them. Most of
them are reserved, which only Java's clients enforce; a broker accepts them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from spec.clause import Clause, Level, release_key

RESERVED = Clause(
    id="CLIENT-PROPERTIES-001",
    level=Level.SHOULD,
    text=(
        "A producer's client refuses an application's property under a reserved name."
    ),
    source="4.6.0 org.apache.rocketmq.common.message.Message#putUserProperty",
    untestable="what a client's methods refuse is not seen on any connection",
)
BROKER_TAKES_RESERVED = Clause(
    id="SEND-PROPS-006",
    level=Level.QUIRK,
    text=(
        "A broker accepts a property under a name that clients reserve for it, such "
        "as ORIGIN_MESSAGE_ID, and stores it as sent."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendMessage",
)
BAD_VALUES_STAY_ALONE = Clause(
    id="SEND-PROPS-007",
    level=Level.MUST,
    text=(
        "A bad value of any property, such as a text that is no number, affects only "
        "its own message, which the broker may refuse. The messages around it arrive "
        "once each, before and after a restart."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
)


class Writer(StrEnum):
    """Writer of a property."""

    APPLICATION = "application"
    CLIENT = "client"
    """Client of a producer, before the send."""
    BROKER = "broker"
    CONSUMER = "consumer"
    """The client of one, when it is handed the message; brokers never see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyName:
    """Facts about a property."""

    writer: Writer
    meaning: str
    since: str = "4.4"
    reserved_since: str | None = None
    """First release whose Java clients refuse it to applications; None: no release."""


A, C, B, R = Writer.APPLICATION, Writer.CLIENT, Writer.BROKER, Writer.CONSUMER


def _name(
    writer: Writer, meaning: str, since: str = "4.4", *, is_reserved: bool = True
) -> PropertyName:
    reserved = since if is_reserved else None
    return PropertyName(
        writer=writer, meaning=meaning, since=since, reserved_since=reserved
    )


PROPERTY_NAMES: Mapping[str, PropertyName] = MappingProxyType(
    {
        "KEYS": _name(A, "words to look the message up by"),
        "TAGS": _name(A, "what consumers filter by"),
        "WAIT": _name(A, "whether the response waits for disk and slave"),
        "DELAY": _name(A, "delay level"),
        "RETRY_TOPIC": _name(B, "topic of a message that was sent back"),
        "REAL_TOPIC": _name(B, "original topic of a message in a system topic"),
        "REAL_QID": _name(B, "original queue of a message in a system topic"),
        "TRAN_MSG": _name(C, "true in a half message"),
        "PGROUP": _name(C, "producer group of a half message"),
        "MIN_OFFSET": _name(R, "the queue's first offset"),
        "MAX_OFFSET": _name(R, "the queue's end"),
        "BUYER_ID": _name(A, "not used"),
        "ORIGIN_MESSAGE_ID": _name(B, "id of a message before it was sent back"),
        "TRANSFER_FLAG": _name(B, "not used"),
        "CORRECTION_FLAG": _name(B, "not used"),
        "MQ2_FLAG": _name(B, "not used"),
        "RECONSUME_TIME": _name(C, "deliveries, of a message sent to a retry topic"),
        "MSG_REGION": _name(B, "the broker's region"),
        "TRACE_ON": _name(B, "whether the region is traced"),
        "UNIQ_KEY": _name(C, "the client's id of the message"),
        "MAX_RECONSUME_TIMES": _name(C, "of a message sent to a retry topic"),
        "CONSUME_START_TIME": _name(R, "when it was handed to the application"),
        "TRAN_PREPARED_QUEUE_OFFSET": PropertyName(
            writer=B,
            meaning="first queue offset of a half message that was put back",
            reserved_since="5.0",
        ),
        "TRANSACTION_CHECK_TIMES": _name(
            B, "how often a producer was asked", is_reserved=False
        ),
        "CHECK_IMMUNITY_TIME_IN_SECONDS": _name(
            A, "for how long a producer is not asked", is_reserved=False
        ),
        "INSTANCE_ID": _name(C, "namespace of the client", "4.5"),
        "CORRELATION_ID": _name(C, "joins a reply and its request", "4.6"),
        "REPLY_TO_CLIENT": _name(C, "client that waits for the reply", "4.6"),
        "TTL": _name(C, "how long it waits", "4.6"),
        "ARRIVE_TIME": _name(B, "when a reply reached the broker", "4.6"),
        "PUSH_REPLY_TIME": _name(B, "when it was passed on", "4.6"),
        "CLUSTER": _name(B, "the broker's cluster", "4.6"),
        "MSG_TYPE": _name(C, "reply, of a reply", "4.6"),
        "INNER_MULTI_DISPATCH": _name(
            A, "other queues of the message", "4.9.3", is_reserved=False
        ),
        "INNER_MULTI_QUEUE_OFFSET": _name(B, "offsets in those", "4.9.3"),
        "EXTEND_UNIQ_INFO": _name(C, "not used", "5.0"),
        "INNER_NUM": _name(B, "messages in the record", "5.0", is_reserved=False),
        "INNER_BASE": _name(B, "first of their offsets", "5.0", is_reserved=False),
        "DUP_INFO": _name(B, "of a message that is stored twice", "5.0"),
        "__transactionId__": _name(C, "the unique key again", is_reserved=False),
        "POP_CK": _name(R, "the receipt of a popped message", "5.0"),
        "POP_CK_OFFSET": _name(B, "of a pop's note", "5.0"),
        "1ST_POP_TIME": _name(B, "when it was first popped", "5.0"),
        "__SHARDINGKEY": _name(
            A, "what the queue is chosen by", "5.0", is_reserved=False
        ),
        "PROPERTY_FORWARD_QUEUE_ID": _name(B, "of LMQ", "5.0", is_reserved=False),
        "REDIRECT": _name(B, "not used", "5.0", is_reserved=False),
        "TRACE_CONTEXT": _name(A, "of other tracing systems", "5.0", is_reserved=False),
        "TIMER_DELAY_SEC": _name(A, "seconds to wait", "5.0"),
        "TIMER_DELAY_MS": _name(A, "milliseconds to wait", "5.0"),
        "TIMER_DELIVER_MS": _name(A, "when to deliver it", "5.0"),
        "__BORNHOST": _name(C, "born host behind a proxy", "5.0"),
        "BORN_TIMESTAMP": _name(C, "born time behind a proxy", "5.0"),
        "TIMER_ENQUEUE_MS": _name(B, "when the timer took it", "5.0"),
        "TIMER_DEQUEUE_MS": _name(B, "when the timer gave it back", "5.0"),
        "TIMER_ROLL_TIMES": _name(B, "how often it was put in again", "5.0"),
        "TIMER_OUT_MS": _name(B, "when it is due", "5.0"),
        "TIMER_DEL_UNIQKEY": _name(A, "key of a timed message to take out", "5.0"),
        "TIMER_DELAY_LEVEL": _name(B, "level of a delayed message in the timer", "5.0"),
        "DLQ_ORIGIN_TOPIC": _name(B, "topic of a dead letter", "5.1"),
        "DLQ_ORIGIN_MESSAGE_ID": _name(B, "id of a dead letter before", "5.1"),
        "__CRC32#": _name(B, "checksum of the whole record", "5.2"),
    }
)
"""By name; the release is that of the constant, which may be older than its use."""


def reserved_names(release: str) -> frozenset[str]:
    """Return the names that Java's client of *release* refuses to applications."""
    wanted = release_key(release)
    return frozenset(
        name
        for name, one in PROPERTY_NAMES.items()
        if one.reserved_since and release_key(one.reserved_since) <= wanted
    )
