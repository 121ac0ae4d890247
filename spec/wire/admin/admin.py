"""
Topics, groups, settings and statistics of a broker: an administrator reads and changes
them while it runs.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_TOPICS = "4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"


CREATE_TOPIC = Clause(
    id="ADMIN-TOPIC-001",
    level=Level.MUST,
    text=(
        "A topic that an administrator creates has the requested queue counts and "
        "permission."
    ),
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
FILTER_TYPE_IS_CHECKED = Clause(
    id="ADMIN-TOPIC-010",
    level=Level.MUST,
    text=(
        "UPDATE_AND_CREATE_TOPIC (17) without a topicFilterType, or with one other "
        "than SINGLE_TAG and MULTI_TAG, is refused with SYSTEM_ERROR (1)."
    ),
    source="4.6.0 org.apache.rocketmq.common.protocol.header.CreateTopicRequestHeader"
    "#checkFields",
)
DELETE_TOPIC = Clause(
    id="ADMIN-TOPIC-004",
    level=Level.MUST,
    text=(
        "After a topic is deleted its pulls are refused with TOPIC_NOT_EXIST (17), "
        "and its max offsets are 0."
    ),
    source=f"{_ADMIN}#deleteTopic",
)
TOPIC_CONFIG = Clause(
    id="ADMIN-TOPIC-005",
    level=Level.MUST,
    text=(
        "GET_ALL_TOPIC_CONFIG returns the broker's topics as a table by name, with a "
        "data version whose counter each change increments. Counter and time outlive a "
        "restart."
    ),
    source=f"{_TOPICS}#encode",
)
TOPIC_STATS = Clause(
    id="ADMIN-STATS-001",
    level=Level.MUST,
    text=(
        "GET_TOPIC_STATS_INFO returns each write queue's min and max offset and the "
        "store time of its last message, or 0 without one. From 5.3 on it returns "
        "queues that are read only, too."
    ),
    source=f"{_ADMIN}#getTopicStatsInfo",
)
CONSUME_STATS = Clause(
    id="ADMIN-STATS-002",
    level=Level.MUST,
    text=(
        "GET_CONSUME_STATS returns each read queue's max offset, the group's "
        "committed offset, and the store time of the last message before it. Without "
        "a committed offset, both are 0."
    ),
    source=f"{_ADMIN}#getConsumeStats",
)
COMMITTED_TABLE = Clause(
    id="ADMIN-STATS-003",
    level=Level.MUST,
    text=(
        "GET_ALL_CONSUMER_OFFSET returns all committed offsets in a table by "
        "topic@group, then by queue."
    ),
    source="4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#encode",
)
GROUPS_OF_TOPIC = Clause(
    id="ADMIN-STATS-004",
    level=Level.MUST,
    text=(
        "QUERY_TOPIC_CONSUME_BY_WHO lists the groups that have committed offsets of "
        "a topic or whose members subscribe to it. 5.3.3 lists the topic's own name "
        "in place of the latter."
    ),
    source=f"{_ADMIN}#queryTopicConsumeByWho",
)
GROUP_CONFIG = Clause(
    id="ADMIN-GROUP-001",
    level=Level.MUST,
    text=(
        "A consumer group that an administrator creates is in the table of groups "
        "with its settings. A setting that the request leaves out has its default, "
        "such as true for consumeEnable and 1 for retryQueueNums."
    ),
    source=f"{_ADMIN}#updateAndCreateSubscriptionGroup",
)
GROUPS_VERSION = Clause(
    id="ADMIN-GROUP-009",
    level=Level.MUST,
    text=(
        "GET_ALL_SUBSCRIPTIONGROUP_CONFIG returns the table of groups with a data "
        "version whose counter each change increments. After a restart its time is not "
        "earlier than before."
    ),
    source="4.6.0 org.apache.rocketmq.broker.subscription.SubscriptionGroupManager"
    "#updateSubscriptionGroupConfig",
)
GROUP_IS_GONE = Clause(
    id="ADMIN-GROUP-007",
    level=Level.MUST,
    text="Up to 5.4, a deleted group is not in the table of groups.",
    source=f"{_ADMIN}#deleteSubscriptionGroup",
    until="5.4",
)
GROUP_COMES_BACK = Clause(
    id="ADMIN-GROUP-008",
    level=Level.QUIRK,
    text=(
        "In 5.5, a group that was deleted without cleanOffset is in the table of "
        "groups again, with default settings, if autoCreateSubscriptionGroup is true."
    ),
    source="5.5.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#deleteSubscriptionGroup",
    since="5.5",
)
_DELETE_GROUP = "AdminBrokerProcessor#deleteSubscriptionGroup"
OFFSETS_OUTLIVE_GROUP = Clause(
    id="ADMIN-GROUP-002",
    level=Level.MUST,
    text=(
        "A group's committed offsets outlive its deletion, unless the request has "
        "removeOffset (4.9) or cleanOffset (from 5.0 on) true."
    ),
    source=f"4.6.0 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
REMOVE_OFFSET = Clause(
    id="ADMIN-GROUP-003",
    level=Level.MUST,
    since="4.9",
    until="4.9",
    text=(
        "In 4.9, deleting a group with removeOffset true deletes its committed "
        "offsets; the field cleanOffset of 5.0 is ignored."
    ),
    source=f"4.9.7 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
CLEAN_OFFSET = Clause(
    id="ADMIN-GROUP-004",
    level=Level.MUST,
    since="5.0",
    text=(
        "From 5.0 on, deleting a group with cleanOffset true deletes its committed "
        "offsets; the field removeOffset of 4.9 is ignored."
    ),
    source=f"5.3.3 org.apache.rocketmq.broker.processor.{_DELETE_GROUP}",
)
RELAYED_TO_CLIENT = Clause(
    id="ADMIN-CLIENT-001",
    level=Level.MUST,
    text=(
        "A broker relays GET_CONSUMER_RUNNING_INFO (307) and "
        "CONSUME_MESSAGE_DIRECTLY (309) to the client that they name, and relays its "
        "response."
    ),
    source=f"{_ADMIN}#callConsumer",
)
CLIENT_IS_ABSENT = Clause(
    id="ADMIN-CLIENT-002",
    level=Level.MUST,
    text=(
        "A relayed request that names a client outside the group is answered with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#callConsumer",
)
CLIENT_IS_TOO_OLD = Clause(
    id="ADMIN-CLIENT-006",
    level=Level.MUST,
    text=(
        "A request that would be relayed to a client whose heartbeat had a version "
        "below 62 (V3_1_8_SNAPSHOT) is answered with SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#callConsumer",
)
MEMBER_IS_TOO_OLD = Clause(
    id="ADMIN-CLIENT-007",
    level=Level.MUST,
    text=(
        "INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223) for a group whose member's "
        "heartbeat had a version below 28 (V3_0_7_SNAPSHOT) is answered with "
        "SYSTEM_ERROR (1)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#getConsumeStatus",
)
MESSAGE_IS_SENT_ALONG = Clause(
    id="ADMIN-CLIENT-004",
    level=Level.MUST,
    text=(
        "A client receives CONSUME_MESSAGE_DIRECTLY (309) with the record of the "
        "message that msgId names as its body, and with the broker's brokerName."
    ),
    source=f"{_ADMIN}#consumeMessageDirectly",
)
MESSAGE_IS_ABSENT = Clause(
    id="ADMIN-CLIENT-005",
    level=Level.MUST,
    text=(
        "CONSUME_MESSAGE_DIRECTLY (309) with a msgId that names no message is "
        "answered with SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#consumeMessageDirectly",
)
STATUS_IS_COLLECTED = Clause(
    id="ADMIN-CLIENT-003",
    level=Level.MUST,
    text=(
        "On INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223) a broker sends "
        "GET_CONSUMER_STATUS_FROM_CLIENT (221) to the group's clients and returns "
        "their offsets by client."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#getConsumeStatus",
)
SETTINGS = Clause(
    id="ADMIN-CONFIG-001",
    level=Level.MUST,
    text=(
        "GET_BROKER_CONFIG returns the broker's settings as lines of name=value, in "
        "the names of Java's fields."
    ),
    source=f"{_ADMIN}#getBrokerConfig",
)
RUNTIME_INFO = Clause(
    id="ADMIN-CONFIG-002",
    level=Level.MUST,
    text="A broker's runtime information has its release in brokerVersionDesc.",
    source=f"{_ADMIN}#getBrokerRuntimeInfo",
)
NO_NUMBER_IS_IGNORED = Clause(
    id="ADMIN-CONFIG-003",
    level=Level.MUST,
    text=(
        "UPDATE_BROKER_CONFIG with text for a numeric setting is answered with "
        "SUCCESS (0), and the setting keeps its value."
    ),
    source="4.6.0 org.apache.rocketmq.common.MixAll#properties2Object",
)
EARLIEST_TIME_IS_LATE = Clause(
    id="ADMIN-CONFIG-004",
    level=Level.QUIRK,
    until="4.9",
    text=(
        "Up to 4.9, runtime information has earliestMessageTimeStamp -1 while the "
        "first commit-log file holds less than twice maxMessageSize."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getEarliestMessageTime",
)
SETTINGS_VERSION = Clause(
    id="ADMIN-CONFIG-005",
    level=Level.MUST,
    text=(
        "The response to GET_BROKER_CONFIG has the settings' data version in the "
        "field version, whose counter each UPDATE_BROKER_CONFIG increments."
    ),
    source="4.6.0 org.apache.rocketmq.common.Configuration#update",
)
EARLIEST_TIME = Clause(
    id="ADMIN-CONFIG-006",
    level=Level.MUST,
    since="5.3",
    text=(
        "From 5.3 on, earliestMessageTimeStamp of the runtime information is the "
        "store time of the commit log's first message."
    ),
    source="5.3.3 org.apache.rocketmq.store.DefaultMessageStore#getEarliestMessageTime",
)
