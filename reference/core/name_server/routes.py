"""
What the name server answers about topics, brokers and clusters.

Bodies are JSON in the dialect of Java's writer: the broker ids of route data are
bare numbers as keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reference.core.answer import Answer, refusal
from reference.core.name_server.registration import ORDER_TOPICS
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.name_server.dispatch import NameServer

SEE_FAQ = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
_UNIT = 1
_UNIT_SUBSCRIPTION = 2


def route_of_topic(server: NameServer, request: Request) -> Answer:
    """Say which brokers have a topic's queues, and where those brokers are."""
    topic = request.text_or_null("topic")
    known = server.tables.route_bodies.get(topic)
    if known is not None and not server.order_messages_enabled:
        return Answer(body=known)
    queues = server.tables.queues.get(topic, [])
    names = {queue.broker_name: None for queue in queues}
    brokers = [server.tables.brokers[n] for n in names if n in server.tables.brokers]
    if not brokers:
        return refusal(
            ResponseCode.TOPIC_NOT_EXIST,  # [ROUTE-DATA-003]
            # [ROUTE-DATA-012]
            f"No topic route info in name server for the topic: {topic}{SEE_FAQ}",
        )
    addresses = [a for broker in brokers for a in broker.addresses.values()]
    filter_servers = {
        address: list(server.tables.filter_servers[address])
        for address in addresses
        if address in server.tables.filter_servers
    }
    route: dict[str, object] = {
        "brokerDatas": [broker.as_json() for broker in brokers],  # [ROUTE-DATA-002]
        "filterServerTable": filter_servers,
        "queueDatas": [queue.as_json() for queue in queues],  # [ROUTE-DATA-001]
    }
    order = server.key_values.get(ORDER_TOPICS, {}).get(topic)
    if server.order_messages_enabled and order is not None:  # [ROUTE-KV-008]
        route["orderTopicConf"] = order  # [ROUTE-KV-009] [ROUTE-DATA-009]
        return Answer(body=fastjson.dumps(route))
    body = server.tables.route_bodies[topic] = fastjson.dumps(route)
    return Answer(body=body)


def cluster_info(server: NameServer, _: Request) -> Answer:
    """Say which brokers there are, and which clusters they form."""
    tables = server.tables
    brokers = {name: broker.as_json() for name, broker in tables.brokers.items()}
    clusters = {name: sorted(members) for name, members in tables.clusters.items()}
    info = {"brokerAddrTable": brokers, "clusterAddrTable": clusters}
    return Answer(body=fastjson.dumps(info))


def all_topics(server: NameServer, _: Request) -> Answer:
    """List the topics."""
    return _topic_list(server.tables.queues)  # [ROUTE-LIST-001]


def topics_of_cluster(server: NameServer, request: Request) -> Answer:
    """List the topics of a cluster; 4.6.0 lists none for an unknown one."""
    # [ROUTE-LIST-003]
    names = server.tables.clusters.get(request.text_or_null("cluster"), set())
    return _topic_list(
        topic
        for topic, queues in server.tables.queues.items()
        if any(queue.broker_name in names for queue in queues)  # [ROUTE-LIST-002]
    )


def system_topics(server: NameServer, _: Request) -> Answer:
    """List cluster and broker names, which are topics too, and one broker address."""
    tables = server.tables
    # [ROUTE-LIST-004]
    topics = [t for name, members in tables.clusters.items() for t in (name, *members)]
    address = next(
        (a for broker in tables.brokers.values() for a in broker.addresses.values()),
        None,
    )
    return _topic_list(topics, address)  # [ROUTE-LIST-005]


def unit_topics(server: NameServer, _: Request) -> Answer:
    """List the topics that belong to a unit."""
    return _topics_by_flag(server, wanted=_UNIT, unwanted=0)  # [ROUTE-LIST-006]


def unit_subscription_topics(server: NameServer, _: Request) -> Answer:
    """List the topics that a unit subscribes to."""
    # [ROUTE-LIST-007]
    return _topics_by_flag(server, wanted=_UNIT_SUBSCRIPTION, unwanted=0)


def foreign_unit_subscription_topics(server: NameServer, _: Request) -> Answer:
    """List the topics that a unit subscribes to without being a unit's topics."""
    # [ROUTE-LIST-008]
    return _topics_by_flag(server, wanted=_UNIT_SUBSCRIPTION, unwanted=_UNIT)


def delete_topic(server: NameServer, request: Request) -> Answer:
    """Forget a topic; its brokers bring it back unless they forget it too."""
    server.tables.delete_topic(request.text_or_null("topic"))
    return Answer()


def wipe_write_permission(server: NameServer, request: Request) -> Answer:
    """Take the write permission from all queues of a broker."""
    wiped = server.tables.wipe_write_permission(request.text_or_null("brokerName"))
    return Answer(fields={"wipeTopicCount": wiped})


def _topics_by_flag(server: NameServer, *, wanted: int, unwanted: int) -> Answer:
    return _topic_list(
        topic
        for topic, queues in server.tables.queues.items()
        if queues[0].topic_flag & wanted and not queues[0].topic_flag & unwanted
    )


def _topic_list(topics: Iterable[str], address: str | None = None) -> Answer:
    body: dict[str, object] = {"topicList": list(dict.fromkeys(topics))}
    if address is not None:
        body["brokerAddr"] = address
    return Answer(body=fastjson.dumps(body))
