"""
Half messages: transactional messages that no consumer sees until they are committed.

A half message waits in a topic of its own (Java: TransactionalMessageBridge). Commit
appends it to its real topic. Commit and rollback both append an op message, with the
half message's queue offset as its body, so that it is not checked any more.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec.structs import replace

from reference.core.broker.send.put_result import put_message
from reference.core.broker.state import BrokerState
from reference.core.state_machine import StateMachine, Transition
from reference.core.store.types import NewMessage
from spec.store.message_record import Record, SystemFlag
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC
from spec.wire.message.transaction_checks import DONE_TAG
from spec.wire.message.unique_key import UniqueKey, encode_unique_key

TRANSACTION_BITS = int(SystemFlag.TRANSACTION_ROLLBACK)
"""Both bits; ordinary and half messages differ in the lower one."""


class HalfState(Enum):
    """States of a half message."""

    PREPARED = auto()
    """In the half topic.

    No consumer receives the message, and a crash of its producer does not lose it.
    """
    COMMITTED = auto()
    """Appended to its real topic.

    The half message stays, so 4.6.0 delivers again after a second commit.
    """
    ROLLED_BACK = auto()
    """An op message names it.

    The log is append-only: the half message cannot be removed.
    """
    DISCARDED = auto()
    """Checked too often or too old.

    Checks have an end, and an operator may resume it.
    """


class HalfEvent(Enum):
    """Events in the life of a half message."""

    COMMIT = auto()
    ROLLBACK = auto()
    CHECK = auto()
    POSTPONE = auto()
    DISCARD = auto()
    RESUME = auto()


S, E, Row = HalfState, HalfEvent, Transition[HalfState, HalfEvent]
HALF_MESSAGE_TRANSITIONS = StateMachine(
    "half message (transaction)",
    initial=S.PREPARED,
    transitions=[
        Row(S.PREPARED, E.COMMIT, S.COMMITTED, "real topic, op message"),
        Row(S.PREPARED, E.ROLLBACK, S.ROLLED_BACK, "op message"),
        Row(S.PREPARED, E.CHECK, S.PREPARED, "renewed, check request to a producer"),
        Row(S.PREPARED, E.POSTPONE, S.PREPARED, "renewed, immunity time"),
        Row(S.PREPARED, E.DISCARD, S.DISCARDED, "transactionCheckMax"),
        Row(S.DISCARDED, E.RESUME, S.PREPARED, "RESUME_CHECK_HALF_MESSAGE"),
        Row(S.COMMITTED, E.COMMIT, S.COMMITTED, "4.6.0 delivers again"),
    ],
)


def is_prepared(properties: str) -> bool:
    """Return whether a message with *properties* is a half message."""
    if Property.TRAN_MSG not in properties:
        return False
    value = decode_properties(properties).get(Property.TRAN_MSG, "")
    return value.lower() == "true"  # [TXN-HALF-005]


def prepare(message: NewMessage) -> NewMessage:
    """Return the half message of *message*."""
    properties = decode_properties(message.properties)
    properties[Property.REAL_TOPIC] = message.topic
    properties[Property.REAL_QID] = str(message.queue_id)
    return replace(
        message,
        topic=HALF_TOPIC,
        queue_id=0,
        properties=encode_properties(properties),
        system_flags=message.system_flags & ~TRANSACTION_BITS,  # [TXN-HALF-002]
    )


def append_op_message(state: BrokerState, half: Record, now_ms: int) -> None:
    """Append the op message of a half message that was committed or rolled back."""
    key = UniqueKey(
        address=state.store_host.address,
        process_id=0,
        class_loader_hash=0,
        since_month_ms=now_ms & 0x7FFFFFFF,
        counter=next(state.numbers) & 0xFFFF,
    )
    # 4.6.0 appends to this topic without configuring it. [TXN-OP-004]
    op_message = NewMessage(
        topic=OP_TOPIC,
        queue_id=half.queue_id,
        body=str(half.queue_offset).encode(),  # [TXN-OP-002]
        properties=encode_properties(
            {
                Property.TAGS: DONE_TAG,  # [TXN-OP-001]
                Property.UNIQ_KEY: encode_unique_key(key),
            }
        ),
        born_at_ms=now_ms,
        born_host=state.store_host,
        store_host=state.store_host,
    )
    put_message(state, op_message, now_ms)
