"""
What a broker keeps of a message when it accepts it, and what it tells the producer.

The record's layout is in ``message_record``; these are the promises that connect it
with the request that made it.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_APPEND = "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback"

KEEPS_PROPERTIES = Clause(
    id="STORE-ACCEPT-001",
    level=Level.MUST,
    text="Every property that a producer sends, but WAIT, is in the record with its"
    " value; the broker may add others.",
    source=f"{_SEND}#sendMessage",
    issues=("apache/rocketmq#8350",),
)
KEEPS_BODY = Clause(
    id="STORE-ACCEPT-002",
    level=Level.MUST,
    text="The body in the record is the one that was sent, byte for byte.",
    source=f"{_APPEND}#doAppend",
)
KEEPS_RECONSUME_TIMES = Clause(
    id="STORE-ACCEPT-003",
    level=Level.MUST,
    text="The record's reconsume times are those of the request.",
    source=f"{_SEND}#sendMessage",
)
ANSWER_NAMES_RECORD = Clause(
    id="STORE-ACCEPT-004",
    level=Level.MUST,
    text="The answer's msgId is the store host and the commit-log offset of the"
    " record.",
    source=f"{_APPEND}#doAppend",
)
ANSWER_NAMES_UNIT = Clause(
    id="STORE-ACCEPT-005",
    level=Level.MUST,
    text="The answer's queueId and queueOffset are those of the record.",
    source=f"{_SEND}#handlePutMessageResult",
)
ANSWER_ORDER = Clause(
    id="STORE-ACCEPT-006",
    level=Level.MUST,
    text="Of two messages, the one that was answered before the other was sent lies"
    " first in the commit log.",
    source=f"{_APPEND}#doAppend",
)
ACKNOWLEDGED_IS_WRITTEN = Clause(
    id="STORE-ACCEPT-007",
    level=Level.MUST,
    text="The record is in the commit log's file when the answer comes.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
QUEUE_OFFSET_OF_UNQUEUED = Clause(
    id="STORE-ACCEPT-008",
    level=Level.QUIRK,
    text="A record that is prepared or rolled back has queue offset 0 and takes no"
    " number of its queue.",
    source=f"{_APPEND}#doAppend",
)
HALF_MESSAGE_MOVES = Clause(
    id="STORE-ACCEPT-009",
    level=Level.MUST,
    text="A half message is a record of RMQ_SYS_TRANS_HALF_TOPIC, queue 0, with its own"
    " topic in REAL_TOPIC and its own queue in REAL_QID.",
    source="4.6.0 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageBridge#parseHalfMessageInner",
)
DELAYED_MESSAGE_MOVES = Clause(
    id="STORE-ACCEPT-010",
    level=Level.MUST,
    text="A delayed message is a record of SCHEDULE_TOPIC_XXXX, in the queue of its"
    " level less one, with its own topic in REAL_TOPIC and its own queue in REAL_QID.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
TOO_LARGE_FOR_A_FILE = Clause(
    id="STORE-ACCEPT-011",
    level=Level.QUIRK,
    text="A message that is no larger than maxMessageSize, but fits in no commit-log"
    " file, is stored nowhere and takes no number of its queue, although it may be"
    " answered SUCCESS.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
