"""A cached route body is not returned after its content has changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from reference.core.name_server.route_requests import delete_topic, get_route_info
from reference.core.name_server.route_tables import Registration
from reference.core.name_server.server import NameServer
from reference.core.remoting.request import Refused, Request
from reference.tests.name_server.servers import name_server
from spec.routing.broker_registration import RegistrationBody
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable

TOPIC = "topic"


def body(
    read_queue_count: int = 4, counter: int = 1, *servers: str
) -> RegistrationBody:
    topic = TopicConfig(topic=TOPIC, read_queue_count=read_queue_count)
    version = DataVersion(timestamp_ms=1, counter=counter)
    table = TopicTable.of(topic, version=version)
    return RegistrationBody(topics=table, filter_servers=servers)


MASTER = Registration(
    cluster="cluster",
    address="127.0.0.1:1",
    name="broker",
    broker_id=0,
    ha_address="127.0.0.1:11",
    body=body(4, 1, "filter"),
)
NEWER = replace(MASTER, body=body(8, 2, "filter"))
OTHER = replace(MASTER, address="127.0.0.1:2", name="other")


def request(**fields: str) -> Request:
    return Request(0, 1, 0, fields, b"", "JAVA", 0)


def route(server: NameServer) -> tuple[int, bytes]:
    try:
        response = get_route_info(
            server.routes, server.kv_config, server.config, request(topic=TOPIC)
        )
    except Refused as refused:
        return refused.code, b""
    return response.code, response.body


def encoded_again(server: NameServer) -> tuple[int, bytes]:
    server.routes.route_bodies.clear()
    return route(server)


def registers(broker: Registration) -> Callable[[NameServer], object]:
    return lambda server: server.routes.register(broker, 2, 0)


def unregisters(server: NameServer) -> None:
    server.routes.unregister(
        cluster="cluster", address=MASTER.address, name="broker", broker_id=0
    )


CHANGES: dict[str, Callable[[NameServer], object]] = {
    "another broker": registers(OTHER),
    "a slave": registers(replace(MASTER, broker_id=1, address="127.0.0.1:3")),
    "another address": registers(replace(MASTER, address="127.0.0.1:4")),
    "another id": registers(replace(MASTER, broker_id=2)),
    "other queues": registers(NEWER),
    "no filter servers": registers(replace(MASTER, body=body(4, 1))),
    "other filter servers": registers(replace(MASTER, body=body(4, 1, "new"))),
    "unregistration": unregisters,
    "closed connection": lambda server: server.routes.on_connection_lost(1),
    "expiry": lambda server: server.routes.remove_expired(1_000_000),
    "wiped permission": lambda server: server.routes.wipe_write_permission("broker"),
    "deleted topic": lambda server: delete_topic(server.routes, request(topic=TOPIC)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_in_the_next_route(change: str) -> None:
    server = name_server()
    server.routes.register(MASTER, 1, 0)
    before = route(server)
    assert TOPIC in server.routes.route_bodies
    CHANGES[change](server)
    after = route(server)
    assert after != before
    assert after == encoded_again(server)


def test_a_route_has_the_order_of_its_topic_once_that_is_enabled() -> None:
    server = name_server(namespaces={"ORDER_TOPIC_CONFIG": {TOPIC: "broker:4"}})
    server.routes.register(MASTER, 1, 0)
    plain = route(server)
    server.config.order_message_enable = True
    assert b'"orderTopicConf":"broker:4"' in route(server)[1]
    server.config.order_message_enable = False
    assert route(server) == plain


def test_a_renewed_registration_keeps_the_cached_route() -> None:
    server = name_server()
    server.routes.register(MASTER, 1, 0)
    route(server)
    server.routes.register(MASTER, 1, 1)
    assert TOPIC in server.routes.route_bodies
