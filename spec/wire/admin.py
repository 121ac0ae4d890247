"""
An administrator asks a broker for its topics, groups, settings and statistics, and
changes them while it runs.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_TOPICS = "4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"

CREATE_TOPIC_FIELDS = (
    "topic",
    "defaultTopic",
    "readQueueNums",
    "writeQueueNums",
    "perm",
    "topicFilterType",
    "topicSysFlag",
    "order",
)

CREATE_TOPIC = Clause(
    id="ADMIN-TOPIC-001",
    level=Level.MUST,
    text="A topic that an administrator creates has the queues and permissions asked"
    " for.",
    source=f"{_ADMIN}#updateAndCreateTopic",
)
CHANGE_TOPIC = Clause(
    id="ADMIN-TOPIC-002",
    level=Level.MUST,
    text="Creating a topic that exists changes its queues and permissions and keeps its"
    " messages.",
    source=f"{_ADMIN}#updateAndCreateTopic",
)
CLUSTER_NAME_IS_RESERVED = Clause(
    id="ADMIN-TOPIC-003",
    level=Level.MUST,
    text="A topic with the name of the broker's cluster cannot be created.",
    source=f"{_ADMIN}#updateAndCreateTopic",
)
DELETE_TOPIC = Clause(
    id="ADMIN-TOPIC-004",
    level=Level.MUST,
    text="After a topic is deleted its queues are gone: pulls are refused with"
    " TOPIC_NOT_EXIST (17) and max offsets are 0.",
    source=f"{_ADMIN}#deleteTopic",
)
TOPIC_CONFIG = Clause(
    id="ADMIN-TOPIC-005",
    level=Level.MUST,
    text="The broker's topics are given as a table by name, with a data version that"
    " each change counts up.",
    source=f"{_TOPICS}#encode",
)
TOPIC_STATS = Clause(
    id="ADMIN-STATS-001",
    level=Level.MUST,
    text="A topic's statistics give each queue's min and max offset and the time of its"
    " last message.",
    source=f"{_ADMIN}#getTopicStatsInfo",
)
CONSUME_STATS = Clause(
    id="ADMIN-STATS-002",
    level=Level.MUST,
    text="A group's statistics give each queue's end and what the group has committed.",
    source=f"{_ADMIN}#getConsumeStats",
)
COMMITTED_TABLE = Clause(
    id="ADMIN-STATS-003",
    level=Level.MUST,
    text="All committed offsets are given in a table by topic@group, then by queue.",
    source="4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#encode",
)
GROUPS_OF_TOPIC = Clause(
    id="ADMIN-STATS-004",
    level=Level.MUST,
    text="The groups that have committed offsets of a topic are listed as its"
    " consumers.",
    source=f"{_ADMIN}#queryTopicConsumeByWho",
)
GROUP_CONFIG = Clause(
    id="ADMIN-GROUP-001",
    level=Level.MUST,
    text="A consumer group that an administrator creates is in the table of groups with"
    " its settings, and gone after it is deleted.",
    source=f"{_ADMIN}#updateAndCreateSubscriptionGroup",
)
_DELETE_GROUP = "AdminBrokerProcessor#deleteSubscriptionGroup"
OFFSETS_OUTLIVE_GROUP = Clause(
    id="ADMIN-GROUP-002",
    level=Level.MUST,
    text="What a group has committed outlives its deletion, unless the request says"
    " otherwise.",
    source=f"4.6.0 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
REMOVE_OFFSET = Clause(
    id="ADMIN-GROUP-003",
    level=Level.MUST,
    since="4.9",
    until="4.9",
    text="A group that is deleted with removeOffset true loses what it has committed;"
    " the name that 5.0 gave this field, cleanOffset, is not heard.",
    source=f"4.9.7 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
CLEAN_OFFSET = Clause(
    id="ADMIN-GROUP-004",
    level=Level.MUST,
    since="5.0",
    text="A group that is deleted with cleanOffset true loses what it has committed;"
    " the name that 4.9 gave this field, removeOffset, is not heard.",
    source=f"5.3.3 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
CLIENT_IS_ASKED = Clause(
    id="ADMIN-CLIENT-001",
    level=Level.MUST,
    text="A broker passes GET_CONSUMER_RUNNING_INFO (307) and CONSUME_MESSAGE_DIRECTLY"
    " (309) on to the client of the group that they name, and its answer back.",
    source=f"{_ADMIN}#callConsumer",
)
CLIENT_IS_ABSENT = Clause(
    id="ADMIN-CLIENT-002",
    level=Level.MUST,
    text="A question for a client that is not in the group is answered SYSTEM_ERROR"
    " (1).",
    source=f"{_ADMIN}#callConsumer",
)
MESSAGE_IS_SENT_ALONG = Clause(
    id="ADMIN-CLIENT-004",
    level=Level.MUST,
    text="The body of CONSUME_MESSAGE_DIRECTLY, as the client gets it, is the record of"
    " the message that msgId names, and brokerName is the broker's.",
    source=f"{_ADMIN}#consumeMessageDirectly",
)
MESSAGE_IS_ABSENT = Clause(
    id="ADMIN-CLIENT-005",
    level=Level.MUST,
    text="CONSUME_MESSAGE_DIRECTLY with a msgId that names no message is answered"
    " SYSTEM_ERROR (1).",
    source=f"{_ADMIN}#consumeMessageDirectly",
)
STATUS_IS_ASKED = Clause(
    id="ADMIN-CLIENT-003",
    level=Level.MUST,
    text="A broker that is asked INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223) asks the"
    " group's clients by GET_CONSUMER_STATUS_FROM_CLIENT (221) and gives their offsets"
    " by client.",
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#getConsumeStatus",
)
SETTINGS = Clause(
    id="ADMIN-CONFIG-001",
    level=Level.MUST,
    text="The broker's settings are given as lines of name=value, in the names of"
    " Java's fields.",
    source=f"{_ADMIN}#getBrokerConfig",
)
RUNTIME_INFO = Clause(
    id="ADMIN-CONFIG-002",
    level=Level.MUST,
    text="A broker says which release it is in brokerVersionDesc of its runtime"
    " information.",
    source=f"{_ADMIN}#getBrokerRuntimeInfo",
)
NO_NUMBER_IS_IGNORED = Clause(
    id="ADMIN-CONFIG-003",
    level=Level.MUST,
    text="UPDATE_BROKER_CONFIG with no number for a setting that is one is answered"
    " SUCCESS, and the setting stays as it was.",
    source="4.6.0 org.apache.rocketmq.common.MixAll#properties2Object",
)
EARLIEST_TIME_IS_LATE = Clause(
    id="ADMIN-CONFIG-004",
    level=Level.QUIRK,
    until="4.9",
    text="In runtime information earliestMessageTimeStamp is -1 while the commit log's"
    " first file holds less than twice maxMessageSize.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getEarliestMessageTime",
)
SETTINGS_VERSION = Clause(
    id="ADMIN-CONFIG-005",
    level=Level.MUST,
    text="The answer to GET_BROKER_CONFIG has the settings' own data version in the"
    " field version, which each UPDATE_BROKER_CONFIG counts up.",
    source="4.6.0 org.apache.rocketmq.common.Configuration#update",
)
EARLIEST_TIME = Clause(
    id="ADMIN-CONFIG-006",
    level=Level.MUST,
    since="5.3",
    text="In runtime information earliestMessageTimeStamp is when the first message of"
    " the commit log was stored.",
    source="5.3.3 org.apache.rocketmq.store.DefaultMessageStore#getEarliestMessageTime",
)
