"""
Sending to a topic that does not exist creates it, after another one, if that may be.

The request names the default topic that the new one inherits from, TBW102 unless its
producer says otherwise. Here is also who may write to which topic at all.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_CHECK = (
    "4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor#msgCheck"
)
_VALIDATOR = "5.3.3 org.apache.rocketmq.common.topic.TopicValidator#validateTopic"


DEFAULT_TOPIC = "TBW102"
"""The topic whose settings a topic inherits that is created by sending to it."""
DEFAULT_QUEUE_COUNT = 8
"""Queues of the default topic: an inherited topic has no more."""

TOPIC_IS_CREATED = Clause(
    id="SEND-TOPIC-005",
    level=Level.MUST,
    text="Sending to an unknown topic creates it after the default topic that the"
    " request names, if that one may be inherited.",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#createTopicInSendMessageMethod",
)
CREATED_QUEUE_COUNT = Clause(
    id="SEND-TOPIC-006",
    level=Level.MUST,
    text="A topic created by sending has as many queues as the request asks for, at"
    " most as many as its default topic.",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#createTopicInSendMessageMethod",
)
UNKNOWN_TOPIC = Clause(
    id="SEND-TOPIC-007",
    level=Level.MUST,
    text="A message to an unknown topic whose default topic is unknown too is refused"
    " with TOPIC_NOT_EXIST (17).",
    source=_CHECK,
    issues=("apache/rocketmq#8801",),
)
ANY_TOPIC_NAME = Clause(
    id="SEND-TOPIC-008",
    level=Level.QUIRK,
    text="A broker takes any characters in a topic's name; only clients check them.",
    source=_CHECK,
    until="4.6.0",
)
TOPIC_NAME_IS_CHECKED = Clause(
    id="SEND-TOPIC-009",
    level=Level.MUST,
    text="A message to a topic whose name has other characters than letters, digits,"
    " %, |, - and _ is refused.",
    source=_VALIDATOR,
    since="4.6.1",
)
DEFAULT_TOPIC_REFUSED = Clause(
    id="SEND-TOPIC-010",
    level=Level.MUST,
    text="A message to the default topic TBW102 itself is refused with SYSTEM_ERROR"
    " (1).",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#isTopicCanSendMessage",
    until="4.7.0",
)
WRITE_PERMISSION = Clause(
    id="SEND-PERM-001",
    level=Level.QUIRK,
    text="A broker takes a message to a topic without the write permission.",
    source=_CHECK,
)
