"""
Requests of 4.6.0's administration (Java: AdminBrokerProcessor), each with the clauses
about its response.

Brokers give these 42 codes to one processor. Tools, slaves and clients send them.
Requests that the reference supports only in part are listed here, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.clause import Clause, Level
from spec.wire.remoting.request_code import RequestCode as Code

_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"

SYSTEM_TOPICS = Clause(
    id="ADMIN-TOPIC-006",
    level=Level.MUST,
    text=(
        "GET_SYSTEM_TOPIC_LIST_FROM_BROKER (305) lists the broker's own topics, "
        "among them TBW102, SELF_TEST_TOPIC, BenchmarkTest, OFFSET_MOVED_EVENT and "
        "those named after its cluster and itself, and no created topic."
    ),
    source=f"{_ADMIN}#getSystemTopicListFromBroker",
)
UNUSED_TOPICS = Clause(
    id="ADMIN-TOPIC-007",
    level=Level.MUST,
    text=(
        "On CLEAN_UNUSED_TOPIC (316) a broker deletes the consume queues of topics "
        "without a topic configuration."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#cleanUnusedTopic",
)
CLONED_OFFSETS = Clause(
    id="OFFSET-CLONE-001",
    level=Level.MUST,
    text=(
        "After CLONE_GROUP_OFFSET (314) with offline true, destGroup has srcGroup's "
        "committed offsets of the topic, in every queue."
    ),
    source=f"{_ADMIN}#cloneGroupOffset",
)
NOT_CLONED_ONLINE = Clause(
    id="OFFSET-CLONE-003",
    level=Level.QUIRK,
    text=(
        "CLONE_GROUP_OFFSET (314) with offline false is answered with SUCCESS (0), and "
        "nothing is copied, while the members of srcGroup subscribe to other topics "
        "only."
    ),
    source=f"{_ADMIN}#cloneGroupOffset",
)
CLONED_WITHOUT_TOPIC = Clause(
    id="OFFSET-CLONE-002",
    level=Level.QUIRK,
    text=(
        "CLONE_GROUP_OFFSET (314) without a topic is answered with SUCCESS (0), and "
        "nothing is copied."
    ),
    source=f"{_ADMIN}#cloneGroupOffset",
)
QUEUE_IS_EMPTY = Clause(
    id="QUERY-QUEUE-001",
    level=Level.QUIRK,
    until="4.6",
    text=(
        "Up to 4.6, QUERY_CONSUME_QUEUE (321) is answered with maxQueueIndex and "
        "minQueueIndex 0 and no queueData, even for a queue with messages."
    ),
    source=f"{_ADMIN}#queryConsumeQueue",
)
UNITS_ARE_RETURNED = Clause(
    id="QUERY-QUEUE-002",
    level=Level.MUST,
    since="4.9",
    text=(
        "From 4.9 on, QUERY_CONSUME_QUEUE (321) is answered with the queue's offsets "
        "and, as queueData, the requested units."
    ),
    source="4.9.7 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#queryConsumeQueue",
)

ADMINISTRATION: Mapping[Code, tuple[str, ...]] = {
    Code.UPDATE_AND_CREATE_TOPIC: (
        *("ADMIN-TOPIC-001", "ADMIN-TOPIC-002", "ADMIN-TOPIC-003"),
        "ADMIN-TOPIC-010",
        *("ROUTE-BROKER-008", "ROUTE-BROKER-009", "ROUTE-BROKER-010"),
    ),
    Code.DELETE_TOPIC_IN_BROKER: ("ADMIN-TOPIC-004", "ROUTE-BROKER-011"),
    Code.GET_ALL_TOPIC_CONFIG: ("ADMIN-TOPIC-005",),
    Code.UPDATE_BROKER_CONFIG: ("ADMIN-CONFIG-003", "ADMIN-CONFIG-005"),
    Code.GET_BROKER_CONFIG: ("ADMIN-CONFIG-001", "ADMIN-CONFIG-005"),
    Code.SEARCH_OFFSET_BY_TIMESTAMP: (
        *("OFFSET-SEARCH-001", "OFFSET-SEARCH-002", "OFFSET-SEARCH-003"),
        *("OFFSET-SEARCH-005", "OFFSET-SEARCH-007", "OFFSET-SEARCH-008"),
    ),
    Code.GET_MAX_OFFSET: ("OFFSET-MAX-001", "OFFSET-MAX-002"),
    Code.GET_MIN_OFFSET: ("OFFSET-MIN-001", "OFFSET-MAX-002"),
    Code.GET_EARLIEST_MSG_STORETIME: ("OFFSET-TIME-001",),
    Code.GET_BROKER_RUNTIME_INFO: ("ADMIN-CONFIG-002", "ADMIN-CONFIG-004"),
    Code.LOCK_BATCH_MQ: (
        *("GROUP-LOCK-001", "GROUP-LOCK-002", "GROUP-LOCK-003", "GROUP-LOCK-007"),
    ),
    Code.UNLOCK_BATCH_MQ: ("GROUP-LOCK-004",),
    Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: ("ADMIN-GROUP-001",),
    Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: ("ADMIN-GROUP-001",),
    Code.DELETE_SUBSCRIPTIONGROUP: ("ADMIN-GROUP-001", "ADMIN-GROUP-002"),
    Code.GET_TOPIC_STATS_INFO: ("ADMIN-STATS-001",),
    Code.GET_CONSUMER_CONNECTION_LIST: (
        *("GROUP-CONNECTION-001", "GROUP-CONNECTION-002", "GROUP-CONNECTION-005"),
    ),
    Code.GET_PRODUCER_CONNECTION_LIST: ("GROUP-CONNECTION-003", "GROUP-CONNECTION-004"),
    Code.GET_CONSUME_STATS: ("ADMIN-STATS-002",),
    Code.GET_ALL_CONSUMER_OFFSET: ("ADMIN-STATS-003",),
    Code.GET_ALL_DELAY_OFFSET: ("HA-SLAVE-006",),
    Code.INVOKE_BROKER_TO_RESET_OFFSET: (
        *("OFFSET-RESET-001", "OFFSET-RESET-002"),
        *("OFFSET-RESET-004", "OFFSET-RESET-005"),
    ),
    Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: ("ADMIN-CLIENT-003",),
    Code.QUERY_TOPIC_CONSUME_BY_WHO: ("ADMIN-STATS-004",),
    Code.REGISTER_FILTER_SERVER: ("ADMIN-FILTER-001",),
    Code.QUERY_CONSUME_TIME_SPAN: ("ADMIN-STATS-007", "ADMIN-STATS-008"),
    Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: ("ADMIN-TOPIC-006",),
    Code.CLEAN_EXPIRED_CONSUMEQUEUE: ("STORE-CLEAN-009",),
    Code.CLEAN_UNUSED_TOPIC: ("ADMIN-TOPIC-007",),
    Code.GET_CONSUMER_RUNNING_INFO: ("ADMIN-CLIENT-001", "ADMIN-CLIENT-002"),
    Code.QUERY_CORRECTION_OFFSET: ("OFFSET-CORRECTION-001", "OFFSET-CORRECTION-002"),
    Code.CONSUME_MESSAGE_DIRECTLY: (
        *("ADMIN-CLIENT-001", "ADMIN-CLIENT-002"),
        *("ADMIN-CLIENT-004", "ADMIN-CLIENT-005"),
    ),
    Code.CLONE_GROUP_OFFSET: (
        *("OFFSET-CLONE-001", "OFFSET-CLONE-002", "OFFSET-CLONE-003"),
    ),
    Code.VIEW_BROKER_STATS_DATA: ("ADMIN-STATS-005", "ADMIN-STATS-006"),
    Code.GET_BROKER_CONSUME_STATS: ("ADMIN-STATS-009",),
    Code.QUERY_CONSUME_QUEUE: ("QUERY-QUEUE-001",),
    Code.UPDATE_AND_CREATE_ACL_CONFIG: ("ADMIN-ACL-001",),
    Code.DELETE_ACL_CONFIG: ("ADMIN-ACL-001",),
    Code.GET_BROKER_CLUSTER_ACL_INFO: ("ADMIN-ACL-002",),
    Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: ("ADMIN-ACL-001",),
    Code.RESUME_CHECK_HALF_MESSAGE: ("TXN-RESUME-001",),
    Code.GET_BROKER_CLUSTER_ACL_CONFIG: ("ADMIN-ACL-002",),
}
"""Each case of ``AdminBrokerProcessor#processRequest`` in 4.6.0, in its order, and the
clauses about it."""
