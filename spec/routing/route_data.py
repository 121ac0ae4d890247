"""
A route is a client's view of a topic: its brokers, their queues and their addresses.

The name server makes it from registrations for each request. It has two halves that are
joined by the broker's name. Queue data is each broker's counts for the topic. Broker
data is the addresses of each broker by broker id, of which 0 is the master. The body is
JSON in fastjson's dialect: broker ids are keys without quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spec.clause import Clause, Level
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import (
    JsonObject,
    as_integer,
    as_object,
    integer_in,
    list_in,
    object_in,
    text_in,
)

MASTER_ID = 0
"""The broker id of a master; every other id is a slave's."""

_PICKUP = "namesrv.routeinfo.RouteInfoManager#pickupTopicRouteData"

ROUTE_HAS_QUEUE_DATA = Clause(
    id="ROUTE-DATA-001",
    level=Level.MUST,
    text="A route has, for each broker that registered the topic, that broker's read"
    " and write queue counts and permission.",
    source=f"4.6.0 org.apache.rocketmq.{_PICKUP}",
)
ROUTE_HAS_BROKER_DATA = Clause(
    id="ROUTE-DATA-002",
    level=Level.MUST,
    text="A route has, for each broker name in its queue data, the cluster and the"
    " address of every broker id of that name, slaves included.",
    source=f"4.6.0 org.apache.rocketmq.{_PICKUP}",
)
ROUTE_UNKNOWN_TOPIC = Clause(
    id="ROUTE-DATA-003",
    level=Level.MUST,
    text=(
        "A route request for a topic without a registered broker is answered with "
        "TOPIC_NOT_EXIST (17)."
    ),
    source="4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#getRouteInfoByTopic",
)
ROUTE_BARE_IDS = Clause(
    id="ROUTE-DATA-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, the keys of brokerAddrs are integers without quotes, which is "
        "not JSON."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#toJson",
    issues=(
        "apache/rocketmq#3369",
        "apache/rocketmq#1506",
        "apache/rocketmq#1445",
        "apache/rocketmq#3389",
    ),
    until="4.9.3",
)
ROUTE_BARE_IDS_FOR_OLD_CLIENTS = Clause(
    id="ROUTE-DATA-005",
    level=Level.QUIRK,
    text=(
        "From 4.9.4 on, the keys of brokerAddrs are integers without quotes if the "
        "request's version is older than 4.9.4."
    ),
    source="4.9.7 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#getRouteInfoByTopic",
    since="4.9.4",
    issues=(
        "apache/rocketmq#4471",
        "apache/rocketmq-client-go#845",
    ),
)
ROUTE_QUOTED_IDS = Clause(
    id="ROUTE-DATA-006",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, the keys of brokerAddrs are in quotes if the request's "
        "version is 4.9.4 or newer, or its acceptStandardJsonOnly is true."
    ),
    source="4.9.7 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#getRouteInfoByTopic",
    since="4.9.4",
)
ROUTE_TOPIC_SYN_FLAG = Clause(
    id="ROUTE-DATA-007",
    level=Level.MUST,
    text="Up to 4.8, queue data has the topic's flags in topicSynFlag.",
    source="4.6.0 org.apache.rocketmq.common.protocol.route.QueueData#topicSynFlag",
    until="4.8",
)
ROUTE_TOPIC_SYS_FLAG = Clause(
    id="ROUTE-DATA-008",
    level=Level.MUST,
    text="From 4.9 on, queue data has the topic's flags in topicSysFlag.",
    source="4.9.0 org.apache.rocketmq.common.protocol.route.QueueData#topicSysFlag",
    since="4.9",
)
ROUTE_NO_NULLS = Clause(
    id="ROUTE-DATA-009",
    level=Level.SHOULD,
    text="A route omits a field without a value, rather than writing null.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#toJson",
)
ROUTE_FILTER_SERVERS = Clause(
    id="ROUTE-DATA-010",
    level=Level.MUST,
    text="A route's filterServerTable lists, by broker address, the filter servers that"
    " the broker registered; a later registration without any removes them.",
    source="4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#registerBroker",
)
ROUTE_ONE_QUEUE_DATA_PER_BROKER = Clause(
    id="ROUTE-DATA-011",
    level=Level.MUST,
    text="A route has one queue data per broker name, however often it registered.",
    source="4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#createAndUpdateQueueData",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueData:
    """One broker's queues of the topic."""

    broker_name: str
    read_queue_count: int
    write_queue_count: int
    permission: int
    """Bits of spec.routing.topic_config.Permission (Java: perm)."""
    topic_flags: int = 0
    """Bits of TopicFlag (Java: topicSynFlag, since 4.9 topicSysFlag)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerData:
    """Addresses of the brokers of one name."""

    cluster: str
    broker_name: str
    addresses: Mapping[int, str]
    """By broker id, as ``host:port`` (Java: brokerAddrs)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRoute:
    """The response to GET_ROUTEINFO_BY_TOPIC (Java: TopicRouteData)."""

    queue_datas: tuple[QueueData, ...]
    broker_datas: tuple[BrokerData, ...]
    filter_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By broker address (Java: filterServerTable)."""
    order_topic_config: str | None = None
    """``broker:queues;broker:queues`` for an order topic (Java: orderTopicConf)."""

    def queues_of(self, broker_name: str) -> QueueData | None:
        """Return the queue data of *broker_name*, if the route has one."""
        return next((q for q in self.queue_datas if q.broker_name == broker_name), None)

    def broker(self, broker_name: str) -> BrokerData | None:
        """Return the broker data of *broker_name*, if the route has one."""
        return next(
            (b for b in self.broker_datas if b.broker_name == broker_name), None
        )


def encode_route(
    route: TopicRoute,
    *,
    flags_name: str = "topicSynFlag",
    acting_master: bool | None = None,
) -> bytes:
    """Return the JSON of *route*.

    Releases since 4.9 have another *flags_name*. Releases since 5.0 write whether a
    slave may act as master (enableActingMaster) into the data of each broker.
    """
    extra = {} if acting_master is None else {"enableActingMaster": acting_master}
    shown: dict[str, object] = {
        "brokerDatas": [
            {**broker_data_as_json(data), **extra} for data in route.broker_datas
        ],
        "filterServerTable": {k: list(v) for k, v in route.filter_servers.items()},
        "queueDatas": [_queue_data_as_json(d, flags_name) for d in route.queue_datas],
    }
    if route.order_topic_config is not None:
        shown["orderTopicConf"] = route.order_topic_config
    return fastjson.dumps(shown)


def decode_route(data: bytes) -> TopicRoute:
    """Return the route that *data*, the body of a response, holds."""
    found = as_object(fastjson.loads(data))
    filters = object_in(found, "filterServerTable")
    order = found.get("orderTopicConf")
    return TopicRoute(
        queue_datas=tuple(
            _queue_data_from_json(as_object(item, "queueDatas"))
            for item in list_in(found, "queueDatas")
        ),
        broker_datas=tuple(
            broker_data_from_json(as_object(item, "brokerDatas"))
            for item in list_in(found, "brokerDatas")
        ),
        filter_servers={str(key): tuple(value or ()) for key, value in filters.items()},
        order_topic_config=None if order is None else str(order),
    )


def broker_data_as_json(data: BrokerData) -> dict[str, object]:
    """Return *data* as the object that JSON shows; broker ids stay integers."""
    return {
        "brokerAddrs": dict(data.addresses),
        "brokerName": data.broker_name,
        "cluster": data.cluster,
    }


def broker_data_from_json(found: JsonObject) -> BrokerData:
    """Return the broker data that the object *found* shows."""
    addresses = object_in(found, "brokerAddrs")
    return BrokerData(
        cluster=text_in(found, "cluster"),
        broker_name=text_in(found, "brokerName"),
        addresses={as_integer(k, "brokerAddrs"): str(v) for k, v in addresses.items()},
    )


def _queue_data_as_json(data: QueueData, flags_name: str) -> dict[str, object]:
    return {
        "brokerName": data.broker_name,
        "perm": data.permission,
        "readQueueNums": data.read_queue_count,
        flags_name: data.topic_flags,
        "writeQueueNums": data.write_queue_count,
    }


def _queue_data_from_json(found: JsonObject) -> QueueData:
    flags = "topicSysFlag" if "topicSysFlag" in found else "topicSynFlag"
    return QueueData(
        broker_name=text_in(found, "brokerName"),
        read_queue_count=integer_in(found, "readQueueNums", 0),
        write_queue_count=integer_in(found, "writeQueueNums", 0),
        permission=integer_in(found, "perm", 0),
        topic_flags=integer_in(found, flags, 0),
    )
