"""
Limits of a sent message: body, properties and topic, to the byte.

The limits are the broker's. The largest message is a setting; the others come from the
length fields of a record, which ``spec.store.message_record`` has.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_APPEND = (
    "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback#doAppend"
)
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_VALIDATOR = "5.3.3 org.apache.rocketmq.common.topic.TopicValidator#validateTopic"


MESSAGE_SIZE_MAX = 4_194_304
"""The default of the setting maxMessageSize, in bytes."""

BODY = Clause(
    id="SEND-BODY-001",
    level=Level.MUST,
    text="A consumer gets the bytes of the body that the producer sent.",
    source=_APPEND,
)
EMPTY_BODY = Clause(
    id="SEND-BODY-002",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a broker accepts a message with an empty body, which the Java "
        "client does not send."
    ),
    source=_APPEND,
    until="4.9",
)
EMPTY_BODY_REFUSED = Clause(
    id="SEND-BODY-003",
    level=Level.MUST,
    text="From 5.0 on, a message with an empty body is refused.",
    source="5.3.3 org.apache.rocketmq.broker.util.HookUtils#checkBeforePutMessage",
    since="5.0",
)
RECORD_TOO_LARGE = Clause(
    id="SEND-BODY-004",
    level=Level.MUST,
    text=(
        "Up to 4.9.3, a message whose whole record has more than 4,194,304 bytes is "
        "refused with MESSAGE_ILLEGAL (13); one byte less is stored."
    ),
    source=f"{_APPEND}",
    until="4.9.3",
)
BODY_TOO_LARGE = Clause(
    id="SEND-BODY-005",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, a message whose body has more than 4,194,304 bytes is "
        "refused with MESSAGE_ILLEGAL (13); one byte less is stored."
    ),
    source="4.9.7 org.apache.rocketmq.store.CommitLog$MessageExtEncoder#encode",
    since="4.9.4",
)
PROPERTIES_TOO_LONG = Clause(
    id="SEND-PROPS-002",
    level=Level.MUST,
    text=(
        "A message whose properties as stored have more than 32,767 bytes is refused "
        "with MESSAGE_ILLEGAL (13); one byte less is stored."
    ),
    source=f"{_APPEND}",
    issues=("apache/rocketmq#3786",),
)
LONGEST_TOPIC = Clause(
    id="SEND-TOPIC-001",
    level=Level.MUST,
    text="A topic's name may have 127 bytes.",
    source=f"{_STORE}#putMessage",
    issues=("apache/rocketmq#1110",),
)
TOPIC_TOO_LONG = Clause(
    id="SEND-TOPIC-002",
    level=Level.MUST,
    text=(
        "Up to 4.6.0, a message to a topic whose name has more than 127 characters "
        "is refused with MESSAGE_ILLEGAL (13)."
    ),
    source=f"{_STORE}#putMessage",
    until="4.6.0",
)
TOPIC_TOO_LONG_IS_ERROR = Clause(
    id="SEND-TOPIC-003",
    level=Level.MUST,
    text=(
        "From 4.6.1 to 5.3.1, a message to a topic whose name has more than 127 "
        "characters is refused with SYSTEM_ERROR (1)."
    ),
    source="4.9.7 org.apache.rocketmq.common.topic.TopicValidator#validateTopic",
    since="4.6.1",
    until="5.3.1",
)
TOPIC_TOO_LONG_IS_INVALID = Clause(
    id="SEND-TOPIC-004",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, a message to a topic whose name has more than 127 characters "
        "is refused with INVALID_PARAMETER (29)."
    ),
    source=_VALIDATOR,
    since="5.3.2",
)
MAX_MESSAGE_SIZE = Clause(
    id="SEND-BODY-006",
    level=Level.MUST,
    text=(
        "A broker with another maxMessageSize refuses larger bodies with "
        "MESSAGE_ILLEGAL (13) and stores those of half the size."
    ),
    source=f"{_APPEND}",
)
