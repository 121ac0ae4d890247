"""
Op messages of a salvaged log: the half messages they decide have other queue offsets.

The body of an op message is the queue offset of a half message, from 5.0 on several
with commas between. The offsets are rewritten with leading zeros, which Java's
Long.parseLong accepts, so that the record keeps its size. An op message that names only
lost half messages is left out, because its number would decide another transaction.

4.6.0 org.apache.rocketmq.broker.transaction.queue.TransactionalMessageServiceImpl
#fillOpRemoveMap.
"""

from __future__ import annotations

import re
from dataclasses import replace

from reference.core.salvage.queue_offsets import QueueName, QueueOffsets
from spec.store.message_record import Record
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC

_OFFSETS = re.compile(rb"[0-9]{1,18}(,[0-9]{1,18})*,?")


def with_half_offsets(record: Record, offsets: QueueOffsets) -> Record | None:
    """Return *record*; an op message with the new offsets of its half messages.

    None for an op message whose half messages are all lost.
    """
    if record.topic != OP_TOPIC or not _OFFSETS.fullmatch(record.body):
        return record
    half = QueueName(HALF_TOPIC, record.queue_id)
    stated = [int(one) for one in record.body.split(b",") if one]
    left = [one for one in stated if not offsets.is_lost(half, one)]
    if not left:
        return None
    body = b",".join(b"%d" % offsets.moved(half, one) for one in left)
    return replace(record, body=body.rjust(len(record.body), b"0"))
