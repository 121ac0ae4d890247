"""
A batch is several messages of one topic and queue in one request.

Each has a size, an ignored magic and checksum, then a flag, the body after its length
and the properties after theirs. The broker stores each message as a record of its own.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_APPEND = (
    "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback#doAppend"
)
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"

BATCH_OFFSETS = Clause(
    id="SEND-BATCH-001",
    level=Level.MUST,
    text=(
        "The messages of a batch get consecutive queue offsets in their order, and "
        "the response has the first."
    ),
    source=_APPEND,
)
BATCH_PROPERTIES = Clause(
    id="SEND-BATCH-002",
    level=Level.MUST,
    text="Each message of a batch has the body and properties that it was sent with.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
    issues=("apache/rocketmq#3476",),
)
BATCH_TO_RETRY_TOPIC = Clause(
    id="SEND-BATCH-003",
    level=Level.MUST,
    text="Up to 4.6, a batch to a retry topic is refused with MESSAGE_ILLEGAL (13).",
    source=f"{_SEND}#sendBatchMessage",
    until="4.6",
)
BATCH_TO_RETRY_TOPIC_AGAIN = Clause(
    id="SEND-BATCH-006",
    level=Level.MUST,
    text=(
        "From 5.0 on, a batch to a retry topic is refused with MESSAGE_ILLEGAL (13), "
        "unlike in 4.9."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendBatchMessage",
    since="5.0",
)
BATCH_TOO_LARGE = Clause(
    id="SEND-BATCH-004",
    level=Level.MUST,
    text=(
        "Up to 4.9, a batch whose body has more than 4,194,304 bytes is refused with "
        "MESSAGE_ILLEGAL (13)."
    ),
    source=f"{_STORE}#putMessages",
    until="4.9",
)
BATCH_TOO_LARGE_IS_ERROR = Clause(
    id="SEND-BATCH-005",
    level=Level.MUST,
    text=(
        "From 5.0 on, a batch whose records have more than 4,194,304 bytes is "
        "refused with SYSTEM_ERROR (1)."
    ),
    source="5.3.3 org.apache.rocketmq.store.MessageExtEncoder#encode",
    since="5.0",
)
BATCH_OF_HALVES = Clause(
    id="SEND-BATCH-007",
    level=Level.MUST,
    text="A batch whose system flags have a transaction bit is refused with"
    " MESSAGE_ILLEGAL (13).",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessages",
)
DELAYED_BATCH = Clause(
    id="SEND-BATCH-008",
    level=Level.MUST,
    text="A batch with a DELAY above 0 in the properties of its header is refused with"
    " MESSAGE_ILLEGAL (13). One with another number is stored without a delay.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessages",
)
FIELD_MAKES_IT = Clause(
    id="SEND-BATCH-009",
    level=Level.QUIRK,
    text=(
        "The field batch, not the request code, makes a request a batch: "
        "SEND_MESSAGE (10) and SEND_MESSAGE_V2 (310) with it are one, "
        "SEND_BATCH_MESSAGE (320) without it is a single message."
    ),
    source=f"{_SEND}#processRequest",
)
HEADER_IS_OF_EACH = Clause(
    id="SEND-BATCH-016",
    level=Level.MUST,
    text=(
        "The record of each message in a batch has bornTimestamp, sysFlag and "
        "reconsumeTimes of the request."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
)
IGNORED_WORDS = Clause(
    id="SEND-BATCH-010",
    level=Level.MUST,
    text=(
        "The record of a message in a batch has the checksum of its body and its own "
        "size; the batch's words for them are ignored."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
)
NEGATIVE_PROPERTIES = Clause(
    id="SEND-BATCH-011",
    level=Level.MUST,
    text=(
        "A batch with a message whose properties have 32,768 bytes, a negative "
        "count, is refused and nothing of it is stored; 32,000 bytes are stored."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
    issues=("apache/rocketmq#3786",),
)
ONE_FILE = Clause(
    id="SEND-BATCH-012",
    level=Level.MUST,
    text=(
        "The records of a batch are consecutive in one commit-log file; if they do "
        "not fit with 8 bytes to spare, all go to the next."
    ),
    source=_APPEND,
)
NO_BODY = Clause(
    id="SEND-BATCH-017",
    level=Level.MUST,
    text="A batch without a body is refused with SYSTEM_ERROR (1).",
    source="4.6.0 org.apache.rocketmq.store.MessageExtBatch#wrap",
)
HEADER_IS_STORED = Clause(
    id="SEND-BATCH-013",
    level=Level.MUST,
    text=(
        "From 4.8 to 5.3, the properties in a batch's header, and CLUSTER, are "
        "stored with each of its messages."
    ),
    source="4.9.7 org.apache.rocketmq.store.CommitLog$MessageExtEncoder#encode",
    since="4.8",
    until="5.3",
)
HEADER_IS_DROPPED = Clause(
    id="SEND-BATCH-014",
    level=Level.QUIRK,
    text=(
        "Up to 4.7, neither the properties in a batch's header nor CLUSTER are stored."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
    until="4.7",
)
HEADER_IS_DROPPED_AGAIN = Clause(
    id="SEND-BATCH-015",
    level=Level.QUIRK,
    text=(
        "From 5.4 on, neither the properties in a batch's header nor CLUSTER are "
        "stored."
    ),
    source="5.4.0 observed in the responses of a running broker",
    since="5.4",
)
