"""Handlers of clients' and tools' requests about topics, brokers and clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.kv_config import KvConfigTable
from reference.core.name_server.route_tables import RouteTables
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import Response, json_response
from spec.routing.route_data import TopicRoute, broker_data_as_json, encode_route
from spec.routing.topic_config import TopicFlag
from spec.wire.remoting.response_code import SEE_FAQ, ResponseCode


def get_route_info(
    routes: RouteTables,
    kv_config: KvConfigTable,
    config: NameServerConfig,
    request: Request,
) -> Response:
    """Return the route of a topic: its queues and their brokers' addresses.

    Java: getRouteInfoByTopic, RouteInfoManager#pickupTopicRouteData.
    """
    topic = request.text_or_null("topic")
    known = routes.route_bodies.get(topic)
    if known is not None and not config.order_message_enable:
        return Response(body=known)
    route = _route(routes, topic)
    order = (kv_config.order_topics or {}).get(topic)
    if config.order_message_enable and order is not None:  # [ROUTE-KV-008]
        # [ROUTE-KV-009] [ROUTE-DATA-009]
        return Response(body=encode_route(replace(route, order_topic_config=order)))
    body = routes.route_bodies[topic] = encode_route(route)
    return Response(body=body)


def get_cluster_info(routes: RouteTables, _: Request) -> Response:
    """Return all brokers and clusters (Java: getBrokerClusterInfo)."""
    brokers = {name: broker_data_as_json(one) for name, one in routes.brokers.items()}
    clusters = {name: sorted(members) for name, members in routes.clusters.items()}
    info = {"brokerAddrTable": brokers, "clusterAddrTable": clusters}
    return json_response(info)


def get_all_topics(routes: RouteTables, _: Request) -> Response:
    """Return the names of all topics (Java: getAllTopicListFromNameserver)."""
    return _topic_list(routes.queues)  # [ROUTE-LIST-001]


def get_topics_by_cluster(routes: RouteTables, request: Request) -> Response:
    """Return the topics of a cluster; 4.6.0 returns none for an unknown cluster."""
    # [ROUTE-LIST-003]
    names = routes.clusters.get(request.text_or_null("cluster"), set())
    return _topic_list(
        topic
        for topic, queues in routes.queues.items()
        if any(queue.broker_name in names for queue in queues)  # [ROUTE-LIST-002]
    )


def get_system_topics(routes: RouteTables, _: Request) -> Response:
    """Return cluster and broker names, and one broker address.

    Cluster and broker names are topics too (Java: getSystemTopicListFromNs).
    """
    # [ROUTE-LIST-004]
    topics = [t for name, members in routes.clusters.items() for t in (name, *members)]
    address = next(
        (a for broker in routes.brokers.values() for a in broker.addresses.values()),
        None,
    )
    return _topic_list(topics, address)  # [ROUTE-LIST-005]


def get_topics_with_flag(
    routes: RouteTables, flag: TopicFlag, _: Request, *, without: int = 0
) -> Response:
    """Return the topics that have *flag*, and no flag of *without*."""
    return _topic_list(
        topic
        for topic, queues in routes.queues.items()
        if queues[0].topic_flags & flag and not queues[0].topic_flags & without
    )


def delete_topic(routes: RouteTables, request: Request) -> Response:
    """Remove a topic until a broker registers it again (Java: deleteTopicInNamesrv)."""
    routes.delete_topic(request.text_or_null("topic"))
    return Response()


def wipe_write_permission(routes: RouteTables, request: Request) -> Response:
    """Remove the write permission from a broker's topics; return their number.

    Java: wipeWritePermOfBroker.
    """
    wiped = routes.wipe_write_permission(request.text_or_null("brokerName"))
    return Response(fields={"wipeTopicCount": wiped})


def _route(routes: RouteTables, topic: str) -> TopicRoute:
    queues = routes.queues.get(topic, [])
    names = dict.fromkeys(queue.broker_name for queue in queues)
    brokers = [routes.brokers[name] for name in names if name in routes.brokers]
    if not brokers:
        raise Refused(
            ResponseCode.TOPIC_NOT_EXIST,  # [ROUTE-DATA-003]
            # [ROUTE-DATA-012]
            f"No topic route info in name server for the topic: {topic}{SEE_FAQ}",
        )
    addresses = [a for broker in brokers for a in broker.addresses.values()]
    servers = routes.filter_servers
    return TopicRoute(
        broker_datas=tuple(brokers),  # [ROUTE-DATA-002]
        filter_servers={one: servers[one] for one in addresses if one in servers},
        queue_datas=tuple(queues),  # [ROUTE-DATA-001]
    )


def _topic_list(topics: Iterable[str], address: str | None = None) -> Response:
    body: dict[str, object] = {"topicList": list(dict.fromkeys(topics))}
    if address is not None:
        body["brokerAddr"] = address
    return json_response(body)
