"""
Promises about an accepted message: its record, and the response to the producer.

The record's layout is in ``message_record``; these clauses connect it with the request.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_APPEND = "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback"

KEEPS_PROPERTIES = Clause(
    id="STORE-PUT-001",
    level=Level.MUST,
    text=(
        "Every property that a producer sends, except WAIT, is in the record with "
        "its value; the broker may add others."
    ),
    source=f"{_SEND}#sendMessage",
    issues=("apache/rocketmq#8350",),
)
KEEPS_BODY = Clause(
    id="STORE-PUT-002",
    level=Level.MUST,
    text="The body in the record is the sent one, byte for byte.",
    source=f"{_APPEND}#doAppend",
)
KEEPS_RECONSUME_TIMES = Clause(
    id="STORE-PUT-003",
    level=Level.MUST,
    text="The record's reconsume times are those of the request.",
    source=f"{_SEND}#sendMessage",
)
RESPONSE_NAMES_RECORD = Clause(
    id="STORE-PUT-004",
    level=Level.MUST,
    text=(
        "The response's msgId is the store host and the commit-log offset of the "
        "record."
    ),
    source=f"{_APPEND}#doAppend",
)
RESPONSE_NAMES_UNIT = Clause(
    id="STORE-PUT-005",
    level=Level.MUST,
    text="The response's queueId and queueOffset are those of the record.",
    source=f"{_SEND}#handlePutMessageResult",
)
RESPONSE_ORDER = Clause(
    id="STORE-PUT-006",
    level=Level.MUST,
    text=(
        "If one message was acknowledged before another was sent, its record is "
        "first in the commit log."
    ),
    source=f"{_APPEND}#doAppend",
)
ACKNOWLEDGED_IS_WRITTEN = Clause(
    id="STORE-PUT-007",
    level=Level.MUST,
    text="The record is in the commit log's file when the response is sent.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
QUEUE_OFFSET_OF_UNQUEUED = Clause(
    id="STORE-PUT-008",
    level=Level.QUIRK,
    text=(
        "A record with TRANSACTION_PREPARED_TYPE (4) or TRANSACTION_ROLLBACK_TYPE "
        "(12) has queue offset 0 and does not advance its queue's offset."
    ),
    source=f"{_APPEND}#doAppend",
)
HALF_MESSAGE_MOVES = Clause(
    id="STORE-PUT-009",
    level=Level.MUST,
    text="A half message is a record of RMQ_SYS_TRANS_HALF_TOPIC, queue 0, with its own"
    " topic in REAL_TOPIC and its own queue in REAL_QID.",
    source="4.6.0 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageBridge#parseHalfMessageInner",
)
DELAYED_MESSAGE_MOVES = Clause(
    id="STORE-PUT-010",
    level=Level.MUST,
    text="A delayed message is a record of SCHEDULE_TOPIC_XXXX, in the queue of its"
    " level less one, with its own topic in REAL_TOPIC and its own queue in REAL_QID.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
TOO_LARGE_FOR_A_FILE = Clause(
    id="STORE-PUT-011",
    level=Level.QUIRK,
    text=(
        "A message of at most maxMessageSize that fits in no commit-log file is not "
        "stored, although it may be answered with SUCCESS (0). It does not advance "
        "its queue's offset, except from 5.0 to 5.1.0."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
