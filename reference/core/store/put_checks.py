"""
Checks of a message before the store appends it.
"""

from __future__ import annotations

from reference.core.store.commitlog.dispatch_request import property_value
from reference.core.store.commitlog.record_reader import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
)
from reference.core.store.consumequeue.table import is_directory_name
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.delay.schedule_message import delay_message
from reference.core.store.types import NewMessage, PutStatus
from spec.wire.message.properties import PROPERTIES_SIZE_MAX as PROPERTIES_SIZE_MAX
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import TOPIC_LENGTH_MAX


def check_message(
    message: NewMessage, *, levels: DelayLevels, size_max: int
) -> NewMessage | PutStatus:
    """Return the message to append, or the status of a refused one.

    A delayed message becomes one of the schedule topic. 4.6.0
    org.apache.rocketmq.store.DefaultMessageStore#putMessage and #putMessages. A topic
    is also the name of a directory, and 4.6.0 accepts names that leave its own.
    """
    topic, properties = message.topic, message.properties
    if len(topic) > TOPIC_LENGTH_MAX or not is_directory_name(topic):
        return PutStatus.MESSAGE_ILLEGAL  # [SEND-TOPIC-002]
    if not 0 <= message.queue_id < 2**31:
        return PutStatus.MESSAGE_ILLEGAL
    if message.is_batch:
        return _check_batch(message, levels, size_max)
    if len(properties) > PROPERTIES_SIZE_MAX:  # [SEND-PROPS-002]
        return PutStatus.PROPERTIES_SIZE_EXCEEDED
    if "DELAY" not in properties:
        return message
    # 4.6.0 CommitLog#putMessage delays neither half messages nor rollbacks.
    if message.system_flags & TRANSACTION_MASK in NOT_CONSUMABLE:  # [DELAY-SEND-005]
        return message
    try:
        level = levels.level_of(property_value(properties, Property.DELAY))
    except ValueError:
        return PutStatus.UNKNOWN_ERROR
    return delay_message(message, level) if level > 0 else message


def _check_batch(
    message: NewMessage, levels: DelayLevels, size_max: int
) -> NewMessage | PutStatus:
    """Return *message*, or the status of a refused batch."""
    if message.system_flags & TRANSACTION_MASK:  # [SEND-BATCH-007]
        return PutStatus.MESSAGE_ILLEGAL
    try:
        level = levels.level_of(property_value(message.properties, Property.DELAY))
    except ValueError:
        return PutStatus.UNKNOWN_ERROR
    if level > 0:  # [SEND-BATCH-008]
        return PutStatus.MESSAGE_ILLEGAL
    if len(message.body) > size_max:
        return PutStatus.MESSAGE_ILLEGAL
    return message
