"""
A name server's tables beside routes: clusters, brokers and topics.

Administrators and tools request these lists. They are views of the same tables from
which routes are made, so they change with every registration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spec.clause import Clause, Level
from spec.routing.route_data import (
    BrokerData,
    broker_data_from_json,
)
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_object, list_in, object_in

_TABLES = "4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"

CLUSTER_BROKERS = Clause(
    id="ROUTE-CLUSTER-001",
    level=Level.MUST,
    text="Cluster information has every registered broker's name, cluster and"
    " addresses,"
    " and every cluster's set of broker names.",
    source=f"{_TABLES}#getAllClusterInfo",
)
CLUSTER_LAST_BROKER = Clause(
    id="ROUTE-CLUSTER-002",
    level=Level.MUST,
    text="A cluster disappears with its last broker.",
    source=f"{_TABLES}#unregisterBroker",
)
CLUSTER_BARE_IDS = Clause(
    id="ROUTE-CLUSTER-003",
    level=Level.QUIRK,
    text="The broker ids of cluster information are keys without quotes, also in"
    " releases"
    " that quote them in routes.",
    source=f"{_TABLES}#getAllClusterInfo",
)
TOPIC_LIST = Clause(
    id="ROUTE-LIST-001",
    level=Level.MUST,
    text="The list of all topics has every topic that a registered broker has.",
    source=f"{_TABLES}#getAllTopicList",
)
TOPICS_BY_CLUSTER = Clause(
    id="ROUTE-LIST-002",
    level=Level.MUST,
    text="The list of a cluster's topics has the topics of its brokers and no others.",
    source=f"{_TABLES}#getTopicsByCluster",
)
TOPICS_OF_UNKNOWN_CLUSTER = Clause(
    id="ROUTE-LIST-003",
    level=Level.QUIRK,
    text=(
        "The topic list of a cluster that does not exist is empty, with the code "
        "SUCCESS (0)."
    ),
    source=f"{_TABLES}#getTopicsByCluster",
)
SYSTEM_TOPICS = Clause(
    id="ROUTE-LIST-004",
    level=Level.QUIRK,
    text="The name server's system topics are the names of its clusters and brokers.",
    source=f"{_TABLES}#getSystemTopicList",
)
SYSTEM_TOPICS_ADDRESS = Clause(
    id="ROUTE-LIST-005",
    level=Level.SHOULD,
    text="The list of system topics has the address of one registered broker.",
    source=f"{_TABLES}#getSystemTopicList",
)
UNIT_TOPICS = Clause(
    id="ROUTE-LIST-006",
    level=Level.SHOULD,
    text=(
        "The list of unit topics has the topics whose topicSysFlag has FLAG_UNIT (1)."
    ),
    source=f"{_TABLES}#getUnitTopics",
)
UNIT_SUBSCRIPTION_TOPICS = Clause(
    id="ROUTE-LIST-007",
    level=Level.SHOULD,
    text=(
        "The list of unit subscription topics has the topics whose topicSysFlag has "
        "FLAG_UNIT_SUB (2)."
    ),
    source=f"{_TABLES}#getHasUnitSubTopicList",
)
UNIT_SUBSCRIPTION_ONLY_TOPICS = Clause(
    id="ROUTE-LIST-008",
    level=Level.SHOULD,
    text=(
        "The list of unit subscription topics outside units has the topics whose "
        "topicSysFlag has FLAG_UNIT_SUB (2) and not FLAG_UNIT (1)."
    ),
    source=f"{_TABLES}#getHasUnitSubUnUnitTopicList",
)
DELETE_TOPIC = Clause(
    id="ROUTE-DELETE-001",
    level=Level.MUST,
    text="Deleting a topic in the name server removes it from every broker's routes.",
    source=f"{_TABLES}#deleteTopic",
)
DELETE_UNKNOWN_TOPIC = Clause(
    id="ROUTE-DELETE-002",
    level=Level.MUST,
    text="Deleting a topic that does not exist is answered with SUCCESS (0).",
    source=f"{_TABLES}#deleteTopic",
)
DELETED_TOPIC_RETURNS = Clause(
    id="ROUTE-DELETE-003",
    level=Level.MUST,
    text="A deleted topic is back after its broker registers it with a new data"
    " version.",
    source=f"{_TABLES}#registerBroker",
)
DELETED_TOPIC_STAYS_AWAY = Clause(
    id="ROUTE-DELETE-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a deleted topic stays deleted while its broker registers with "
        "the same data version."
    ),
    source=f"{_TABLES}#isBrokerTopicConfigChanged",
    until="4.9",
)
DELETED_TOPIC_RETURNS_AT_ONCE = Clause(
    id="ROUTE-DELETE-005",
    level=Level.MUST,
    text=(
        "From 5.0 on, a deleted topic is back after its broker registers again, even "
        "with the same data version."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#isTopicConfigChanged",
    since="5.0",
)
DELETE_IN_CLUSTER = Clause(
    id="ROUTE-DELETE-006",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, deleting a topic of a named cluster keeps its queues in "
        "other clusters."
    ),
    source="4.9.7 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager#deleteTopic",
    since="4.9.4",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo:
    """The response to GET_BROKER_CLUSTER_INFO."""

    brokers: Mapping[str, BrokerData]
    """By broker name (Java: brokerAddrTable)."""
    clusters: Mapping[str, frozenset[str]]
    """Broker names by cluster (Java: clusterAddrTable)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """The response to a request for a list of topics."""

    topics: frozenset[str] = field(default_factory=frozenset)
    broker_address: str | None = None
    """Some broker's address, in the list of system topics only."""


def decode_cluster_info(data: bytes) -> ClusterInfo:
    """Return the cluster information that *data*, the body of a response, holds."""
    found = as_object(fastjson.loads(data))
    brokers = object_in(found, "brokerAddrTable")
    clusters = object_in(found, "clusterAddrTable")
    return ClusterInfo(
        brokers={
            str(name): broker_data_from_json(as_object(item, f"brokerAddrTable.{name}"))
            for name, item in brokers.items()
        },
        clusters={
            str(name): frozenset(map(str, list_in(clusters, name))) for name in clusters
        },
    )


def decode_topic_list(data: bytes) -> TopicList:
    """Return the list that *data*, the body of a response, holds."""
    found = as_object(fastjson.loads(data))
    address = found.get("brokerAddr")
    return TopicList(
        topics=frozenset(map(str, list_in(found, "topicList"))),
        broker_address=None if address is None else str(address),
    )
