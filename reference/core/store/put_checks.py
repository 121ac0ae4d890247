"""
What a message must be like before the store looks at it.
"""

from __future__ import annotations

from functools import lru_cache

from reference.core.store.api import NewMessage, PutStatus
from reference.core.store.commit_log import NoFileError
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.files import FilesError
from reference.core.store.records import (
    NOT_CONSUMABLE,
    TOPIC_SIZE_MAX,
    TRANSACTION_MASK,
)
from reference.core.store.words import word
from spec.wire.properties import SIZE_MAX as PROPERTIES_SIZE_MAX
from spec.wire.properties import Property

_NO_DIRECTORY = frozenset(("", ".", ".."))


def refusal(message: NewMessage, *, is_batch: bool = False) -> PutStatus | None:
    """Return why the store does not take *message*; None if it does.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#putMessage and #putMessages.
    A topic is also the name of a directory; one that cannot be is refused, where
    4.6.0 would write outside its own directory or lose the queue at the next start.
    """
    topic = message.topic
    if len(topic) > TOPIC_SIZE_MAX or not is_directory_name(topic):
        return PutStatus.MESSAGE_ILLEGAL  # [SEND-TOPIC-002]
    if not 0 <= message.queue_id < 2**31:
        return PutStatus.MESSAGE_ILLEGAL
    if is_batch:
        has_kind = message.system_flags & TRANSACTION_MASK
        # [SEND-BATCH-007] [SEND-BATCH-008]
        if has_kind or "DELAY\x01" in message.properties:
            return PutStatus.MESSAGE_ILLEGAL
    elif len(message.properties) > PROPERTIES_SIZE_MAX:  # [SEND-PROPS-002]
        return PutStatus.PROPERTIES_SIZE_EXCEEDED
    return None


def status_of(error: FilesError) -> PutStatus:
    """Return what a put comes to when the files refuse it."""
    if isinstance(error, NoFileError):
        return PutStatus.CREATE_FILE_FAILED  # [SEND-STATE-007]
    return PutStatus.SERVICE_NOT_AVAILABLE


def delay_level(message: NewMessage, levels: DelayLevels) -> int | None:
    """Return the delay level of *message*, 0 for none, None for one nobody can read.

    4.6.0 CommitLog#putMessage delays neither half messages nor rollbacks.
    """
    if message.system_flags & TRANSACTION_MASK in NOT_CONSUMABLE:  # [DELAY-SEND-005]
        return 0
    try:
        return levels.level_of(word(message.properties, Property.DELAY))
    except ValueError:
        return None


@lru_cache(maxsize=16_384)
def is_directory_name(topic: str) -> bool:
    """Return whether *topic* can be the name of its queues' directory."""
    if "/" in topic or "\0" in topic or topic in _NO_DIRECTORY:
        return False
    return topic.isascii() or len(topic.encode("utf-8", "replace")) <= TOPIC_SIZE_MAX
