"""
Rules about records and consume-queue units that are checked in several ways.

Rules about numbers use comparisons, ``&``, ``|`` and ``~`` only. They therefore take
Spark columns and numpy arrays.
"""

from __future__ import annotations

from typing import Any, Final

from spec.integers import INT32_MAX
from spec.store.message_record import SystemFlag
from spec.wire.message.topic_names import (
    DLQ_PREFIX,
    HALF_TOPICS,
    OP_TOPIC,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
)
from spec.wire.send.batch_body import INNER_BATCH

TRANSACTION_BITS: Final = int(SystemFlag.TRANSACTION_ROLLBACK)
"""The bits of the system flags that hold a record's transaction type."""
LATER_TOPICS: Final = (SCHEDULE_TOPIC, TIMER_TOPIC)
"""Topics in which a committed message waits if it is also delayed."""
OWN_TOPICS: Final = frozenset(
    {SCHEDULE_TOPIC, *HALF_TOPICS, OP_TOPIC, TRANS_CHECK_MAX_TIME_TOPIC}
)
"""Topics that only a broker writes to."""
OWN_PREFIXES: Final = (RETRY_PREFIX, DLQ_PREFIX)
POPPED_AT: Final = "1ST_POP_TIME"
"""Property of a message that is popped again."""
OP_SIZE_MAX: Final = 1 << 20
"""Largest body of an op message that is read, in bytes."""
QUEUE_DIGITS_MAX: Final = 9
"""Largest number of digits of a queue id in a property."""
OP_DIGITS_MAX: Final = 18
"""Largest number of digits of a queue offset in an op message."""
BATCH_BIT: Final = INNER_BATCH
"""The bit of a record whose unit is in a batch consume queue."""
_PREPARED = int(SystemFlag.TRANSACTION_PREPARED)
_COMMIT = int(SystemFlag.TRANSACTION_COMMIT)


def needs_unit(transaction_type: Any, batch_bit: Any) -> Any:
    """Whether a record needs a unit: it is not half, rolled back or a batch.

    Java: CommitLogDispatcherBuildConsumeQueue#dispatch.
    """
    return is_decided(transaction_type) & (batch_bit == 0)


def is_decided(transaction_type: Any) -> Any:
    """Whether a record is neither a half message nor a rollback."""
    return (transaction_type != _PREPARED) & (transaction_type != TRANSACTION_BITS)


def is_half(transaction_type: Any) -> Any:
    """Whether a record is a half message."""
    return transaction_type == _PREPARED


def is_commit(transaction_type: Any) -> Any:
    """Whether a record is a committed half message."""
    return transaction_type == _COMMIT


def needs_record(offset: Any, size: Any, tags_code: Any, min_offset: Any) -> Any:
    """Whether a unit must point at a record: no filler, and not of a deleted file."""
    is_no_filler = (offset != 0) | (size != INT32_MAX) | (tags_code != 0)
    return is_no_filler & ((offset >= min_offset) | (offset < 0))


def is_op_number(text: bytes) -> bool:
    """Return whether *text* is a queue offset as an op message lists them."""
    return text.isdigit() and len(text) <= OP_DIGITS_MAX


def is_own_topic(topic: str) -> bool:
    """Whether only a broker writes to *topic*."""
    return topic in OWN_TOPICS or topic.startswith(OWN_PREFIXES)
