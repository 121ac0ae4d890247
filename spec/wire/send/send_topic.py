"""
A send to a topic that does not exist creates it from a default topic.

The request names the default topic, by default TBW102; the new topic inherits from it.
Here are also the permissions of sends.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_CHECK = (
    "4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor#msgCheck"
)
_CREATE = (
    "4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#createTopicInSendMessageMethod"
)
_VALIDATOR = "5.3.3 org.apache.rocketmq.common.topic.TopicValidator#validateTopic"


DEFAULT_QUEUE_COUNT = 8
"""Queues of the default topic: an inherited topic has no more."""

TOPIC_IS_CREATED = Clause(
    id="SEND-TOPIC-005",
    level=Level.MUST,
    text=(
        "A message to an unknown topic creates it from the request's defaultTopic, "
        "if that topic has PERM_INHERIT (1)."
    ),
    source=_CREATE,
)
CREATED_QUEUE_COUNT = Clause(
    id="SEND-TOPIC-006",
    level=Level.MUST,
    text=(
        "A topic created by a send has as many queues as the request's "
        "defaultTopicQueueNums, at most as many as its default topic."
    ),
    source=_CREATE,
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
    text=(
        "Up to 4.6.0, a broker accepts any characters in a topic's name; only "
        "clients check them."
    ),
    source=_CHECK,
    until="4.6.0",
)
TOPIC_NAME_IS_CHECKED = Clause(
    id="SEND-TOPIC-009",
    level=Level.MUST,
    text=(
        "From 4.6.1 on, a message to a topic whose name is empty, or has characters "
        "other than letters, digits, %, |, - and _, is refused."
    ),
    source=_VALIDATOR,
    since="4.6.1",
)
DEFAULT_TOPIC_REFUSED = Clause(
    id="SEND-TOPIC-010",
    level=Level.MUST,
    text=(
        "Up to 4.7.0, a message to the default topic TBW102 itself is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#isTopicCanSendMessage",
    until="4.7.0",
    issues=("apache/rocketmq#395",),
)
WRITE_PERMISSION = Clause(
    id="SEND-PERM-001",
    level=Level.QUIRK,
    text="A broker accepts a message to a topic without PERM_WRITE (2).",
    source=_CHECK,
)
CREATED_LIKE_DEFAULT = Clause(
    id="SEND-TOPIC-011",
    level=Level.MUST,
    text=(
        "A topic created by a send has the permission of its default topic without "
        "PERM_INHERIT (1), and its filter type."
    ),
    source=_CREATE,
)
CREATED_IN_A_UNIT = Clause(
    id="SEND-TOPIC-012",
    level=Level.MUST,
    text=(
        "A topic created by a send with unitMode has topicSysFlag 1 (FLAG_UNIT), or 2 "
        "(FLAG_UNIT_SUB) if it is a retry topic. One created without unitMode has 0."
    ),
    source=_CHECK,
)
SCHEDULE_TOPIC_IS_CLOSED = Clause(
    id="SEND-TOPIC-017",
    level=Level.MUST,
    text=(
        "From 4.7.1 on, a message to SCHEDULE_TOPIC_XXXX is refused with "
        "NO_PERMISSION (16). Earlier releases store it."
    ),
    source="4.9.7 org.apache.rocketmq.common.topic.TopicValidator"
    "#isNotAllowedSendTopic",
    since="4.7.1",
)
SYSTEM_TOPICS_ARE_CLOSED = Clause(
    id="SEND-TOPIC-018",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, a message to RMQ_SYS_TRANS_HALF_TOPIC, "
        "RMQ_SYS_TRANS_OP_HALF_TOPIC, TRANS_CHECK_MAX_TIME_TOPIC, SELF_TEST_TOPIC or "
        "OFFSET_MOVED_EVENT is refused with NO_PERMISSION (16)."
    ),
    source="4.9.7 org.apache.rocketmq.common.topic.TopicValidator"
    "#NOT_ALLOWED_SEND_TOPIC_SET",
    since="4.9.4",
)
ANY_INHERITABLE_TOPIC = Clause(
    id="SEND-TOPIC-013",
    level=Level.QUIRK,
    text=(
        "The topics of the broker's own and its cluster's name serve as default "
        "topics too, even if autoCreateTopicEnable is false."
    ),
    source=_CREATE,
    issues=("apache/rocketmq#8801", "apache/rocketmq#3179"),
)
NO_AUTOMATIC_TOPIC = Clause(
    id="SEND-TOPIC-014",
    level=Level.MUST,
    text="With autoCreateTopicEnable=false a message to an unknown topic, default topic"
    " TBW102, is refused with TOPIC_NOT_EXIST (17).",
    source=_CREATE,
)
DEFAULT_TOPIC_STAYS_CLOSED = Clause(
    id="SEND-TOPIC-015",
    level=Level.QUIRK,
    text=(
        "The first message refused because autoCreateTopicEnable is false clears "
        "PERM_INHERIT (1) of TBW102 permanently. TBW102 stays in the topic table and "
        "its route, and creates no topic when the setting is true again."
    ),
    source=_CREATE,
    issues=("apache/rocketmq#288", "apache/rocketmq#5055"),
)
RETRY_TOPIC_IS_CREATED = Clause(
    id="SEND-TOPIC-016",
    level=Level.MUST,
    text=(
        "A message to an unknown retry topic whose default topic is unknown or lacks "
        "PERM_INHERIT (1) creates it with one queue and permission PERM_READ and "
        "PERM_WRITE (6)."
    ),
    source=_CHECK,
)
BROKER_PERMISSION = Clause(
    id="SEND-PERM-002",
    level=Level.QUIRK,
    text=(
        "A broker whose brokerPermission lacks PERM_WRITE (2) accepts messages to "
        "topics that are not ordered."
    ),
    source=_CHECK,
    hints=(
        (
            "such a broker refuses everything",
            "the release refuses only messages to ordered topics",
        ),
    ),
)
BROKER_PERMISSION_ORDERED = Clause(
    id="SEND-PERM-003",
    level=Level.MUST,
    text=(
        "A broker whose brokerPermission lacks PERM_WRITE (2) refuses messages to an "
        "ordered topic with NO_PERMISSION (16)."
    ),
    source=_CHECK,
)
