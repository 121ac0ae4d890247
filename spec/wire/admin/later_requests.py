"""
Requests of administration that releases after 4.6.0 added (AdminBrokerProcessor).

Lists of topics and groups in one request, single topics and groups, and subscriptions.
Limits are topics that a group may not read, and thresholds for reads of cold data.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SUBSCRIPTION_FORBIDDEN = 5
"""forbiddenType of a refused pull (Java: ForbiddenType#SUBSCRIPTION_FORBIDDEN)."""

_ADMIN_3 = "5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_ADMIN_4 = "5.4.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_COLD = "5.3.3 org.apache.rocketmq.broker.coldctr.ColdDataCgCtrService"

TOPIC_LIST = Clause(
    id="ADMIN-TOPICLIST-001",
    level=Level.MUST,
    text=(
        "From 5.3 on, UPDATE_AND_CREATE_TOPIC_LIST (18) creates each topic of "
        "topicConfigList with its queue counts and permission."
    ),
    source=f"{_ADMIN_3}#updateAndCreateTopicList",
    since="5.3",
)
BAD_TOPIC_IN_LIST = Clause(
    id="ADMIN-TOPICLIST-002",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, UPDATE_AND_CREATE_TOPIC_LIST (18) with an invalid name or a "
        "system topic among the topics is refused with INVALID_PARAMETER (29), and "
        "none of them is created. Earlier releases use SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN_3}#updateAndCreateTopicList",
    since="5.3.2",
)
SAME_TOPIC_IN_LIST = Clause(
    id="ADMIN-TOPICLIST-003",
    level=Level.QUIRK,
    text=(
        "From 5.3 on, UPDATE_AND_CREATE_TOPIC_LIST (18) with a topic that exists "
        "unchanged is answered with SUCCESS (0), and no other topic of the list is "
        "created."
    ),
    source=f"{_ADMIN_3}#updateAndCreateTopicList",
    since="5.3",
)
GROUP_LIST = Clause(
    id="ADMIN-GROUPLIST-001",
    level=Level.MUST,
    text=(
        "From 5.3.1 on, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) creates each "
        "group of groupConfigList with its settings."
    ),
    source=f"{_ADMIN_3}#updateAndCreateSubscriptionGroupList",
    since="5.3.1",
)
BAD_GROUP_IN_LIST_CREATED = Clause(
    id="ADMIN-GROUPLIST-002",
    level=Level.QUIRK,
    text=(
        "In 5.3, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) creates a group with "
        "an invalid name, too."
    ),
    source=f"{_ADMIN_3}#updateAndCreateSubscriptionGroupList",
    since="5.3.1",
    until="5.3",
)
BAD_GROUP_IN_LIST = Clause(
    id="ADMIN-GROUPLIST-003",
    level=Level.MUST,
    text=(
        "From 5.4 on, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) with an invalid "
        "name among the groups is refused with INVALID_PARAMETER (29), and none of "
        "them is created."
    ),
    source=f"{_ADMIN_4}#updateAndCreateSubscriptionGroupList",
    since="5.4",
)
ONE_TOPIC = Clause(
    id="ADMIN-TOPIC-008",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_TOPIC_CONFIG (351) returns the configuration of one topic "
        "as GET_ALL_TOPIC_CONFIG does."
    ),
    source=f"{_ADMIN_3}#getTopicConfig",
    since="5.0",
)
ONE_UNKNOWN_TOPIC = Clause(
    id="ADMIN-TOPIC-009",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_TOPIC_CONFIG (351) for an unknown topic is answered with "
        "TOPIC_NOT_EXIST (17)."
    ),
    source=f"{_ADMIN_3}#getTopicConfig",
    since="5.0",
)
ONE_GROUP = Clause(
    id="ADMIN-GROUP-005",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_SUBSCRIPTIONGROUP_CONFIG (352) returns the settings of one "
        "group."
    ),
    source=f"{_ADMIN_3}#getSubscriptionGroup",
    since="5.0",
)
ONE_UNKNOWN_GROUP = Clause(
    id="ADMIN-GROUP-006",
    level=Level.QUIRK,
    text=(
        "From 5.3.2 on, GET_SUBSCRIPTIONGROUP_CONFIG (352) for an unknown group "
        "creates it with default settings while autoCreateSubscriptionGroup is true, "
        "its default. Earlier releases answer with SYSTEM_ERROR (1)."
    ),
    source="5.3.3 org.apache.rocketmq.broker.subscription.SubscriptionGroupManager"
    "#findSubscriptionGroupConfig",
    since="5.3.2",
)
ALL_PRODUCERS = Clause(
    id="GROUP-CONNECTION-006",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, GET_ALL_PRODUCER_INFO (328) returns by group each producer's "
        "client id, language, version and, after a slash, its address."
    ),
    source=f"{_ADMIN_3}#getAllProducerInfo",
    since="4.9.4",
)
ONE_SUBSCRIPTION = Clause(
    id="GROUP-CONNECTION-007",
    level=Level.MUST,
    text=(
        "From 5.0 on, QUERY_SUBSCRIPTION_BY_CONSUMER (345) returns the subscription "
        "of a group to a topic as the heartbeat of a member had it."
    ),
    source=f"{_ADMIN_3}#querySubscriptionByConsumer",
    since="5.0",
)
NO_SUBSCRIPTION = Clause(
    id="GROUP-CONNECTION-008",
    level=Level.MUST,
    text=(
        "From 5.0 on, QUERY_SUBSCRIPTION_BY_CONSUMER (345) for a topic that the group "
        "is not subscribed to is answered with SUCCESS (0) and no subscriptionData."
    ),
    source=f"{_ADMIN_3}#querySubscriptionByConsumer",
    since="5.0",
)
TOPICS_OF_GROUP = Clause(
    id="ADMIN-STATS-010",
    level=Level.MUST,
    text=(
        "From 5.0 on, QUERY_TOPICS_BY_CONSUMER (343) lists the topics of which a group "
        "has committed offsets, and the broker's address."
    ),
    source=f"{_ADMIN_3}#queryTopicsByConsumer",
    since="5.0",
)
FORBIDDEN_TO_GROUP = Clause(
    id="ADMIN-FORBIDDEN-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, after UPDATE_AND_GET_GROUP_FORBIDDEN (353) with readable=false a "
        "group's pulls of the topic are refused with NO_PERMISSION (16) and "
        "forbiddenType 5, until readable=true."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#processRequest",
    since="5.0",
)
FORBIDDEN_IS_READ = Clause(
    id="ADMIN-FORBIDDEN-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, UPDATE_AND_GET_GROUP_FORBIDDEN (353) without readable returns "
        "whether the group may read the topic, true by default, and changes nothing."
    ),
    source=f"{_ADMIN_3}#updateAndGetGroupForbidden",
    since="5.0",
)
FORBIDDEN_IS_EVADED = Clause(
    id="ADMIN-FORBIDDEN-003",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a pull that contains its own subscription is served though "
        "UPDATE_AND_GET_GROUP_FORBIDDEN (353) forbids the topic to its group."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#processRequest",
    since="5.0",
)
COLD_THRESHOLDS = Clause(
    id="ADMIN-COLDDATA-001",
    level=Level.MUST,
    text=(
        "From 5.1.2 on, UPDATE_COLD_DATA_FLOW_CTR_CONFIG (2001) sets thresholds, as "
        "lines of group=bytes, which GET_COLD_DATA_FLOW_CTR_INFO (2003) returns in "
        "configTable."
    ),
    source=f"{_ADMIN_3}#updateColdDataFlowCtrGroupConfig",
    since="5.1.2",
)
COLD_THRESHOLD_IS_NO_NUMBER = Clause(
    id="ADMIN-COLDDATA-002",
    level=Level.QUIRK,
    text=(
        "From 5.1.2 on, UPDATE_COLD_DATA_FLOW_CTR_CONFIG (2001) with text for a "
        "threshold is answered with SUCCESS (0); the other lines apply."
    ),
    source=f"{_ADMIN_3}#updateColdDataFlowCtrGroupConfig",
    since="5.1.2",
)
COLD_THRESHOLD_REMOVED = Clause(
    id="ADMIN-COLDDATA-003",
    level=Level.MUST,
    text=(
        "From 5.1.2 on, REMOVE_COLD_DATA_FLOW_CTR_CONFIG (2002) removes the threshold "
        "of the group that its body names, and no other."
    ),
    source=f"{_ADMIN_3}#removeColdDataFlowCtrGroupConfig",
    since="5.1.2",
)
COLD_DEFAULTS = Clause(
    id="ADMIN-COLDDATA-004",
    level=Level.MUST,
    text=(
        "From 5.1.2 on, GET_COLD_DATA_FLOW_CTR_INFO (2003) returns the settings "
        "cgColdReadThreshold and globalColdReadThreshold."
    ),
    source=f"{_COLD}#getColdDataFlowCtrInfo",
    since="5.1.2",
)
