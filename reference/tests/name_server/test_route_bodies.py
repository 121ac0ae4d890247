"""A route that was kept is never told after what it shows has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from reference.core.name_server.dispatch import NameServer
from reference.core.name_server.routes import delete_topic, route_of_topic
from reference.core.name_server.tables import QueueData, Registration
from reference.core.request import Request

TOPIC = "topic"
MASTER = Registration(
    cluster="cluster",
    address="127.0.0.1:1",
    name="broker",
    broker_id=0,
    ha_address=None,
    version=(1, 1),
    topics={TOPIC: QueueData("broker", 4, 4, 6, 0)},
    filter_servers=("filter",),
)
NEWER = replace(MASTER, version=(1, 2), topics={TOPIC: QueueData("broker", 8, 4, 6, 0)})
OTHER = replace(
    MASTER,
    address="127.0.0.1:2",
    name="other",
    topics={TOPIC: QueueData("other", 4, 4, 6, 0)},
)


def request(**fields: str) -> Request:
    return Request(0, 1, 0, fields, b"", "JAVA", 0)


def route(server: NameServer) -> tuple[int, bytes]:
    answer = route_of_topic(server, request(topic=TOPIC))
    return answer.code, answer.body


def made_anew(server: NameServer) -> tuple[int, bytes]:
    server.tables.route_bodies.clear()
    return route(server)


def registers(broker: Registration) -> Callable[[NameServer], object]:
    return lambda server: server.tables.register(broker, 2, 0)


def unregisters(server: NameServer) -> None:
    server.tables.unregister(
        cluster="cluster", address=MASTER.address, name="broker", broker_id=0
    )


CHANGES: dict[str, Callable[[NameServer], object]] = {
    "another broker": registers(OTHER),
    "a slave": registers(replace(MASTER, broker_id=1, address="127.0.0.1:3")),
    "another address": registers(replace(MASTER, address="127.0.0.1:4")),
    "another id": registers(replace(MASTER, broker_id=2)),
    "other queues": registers(NEWER),
    "no filter servers": registers(replace(MASTER, filter_servers=())),
    "other filter servers": registers(replace(MASTER, filter_servers=("new",))),
    "unregistration": unregisters,
    "closed connection": lambda server: server.tables.connection_closed(1),
    "expiry": lambda server: server.tables.expire(1_000_000),
    "wiped permission": lambda server: server.tables.wipe_write_permission("broker"),
    "deleted topic": lambda server: delete_topic(server, request(topic=TOPIC)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_in_the_next_route(change: str) -> None:
    server = NameServer()
    server.tables.register(MASTER, 1, 0)
    before = route(server)
    assert TOPIC in server.tables.route_bodies
    CHANGES[change](server)
    after = route(server)
    assert after != before
    assert after == made_anew(server)


def test_the_order_of_a_topic_is_told_as_soon_as_it_is_wanted() -> None:
    server = NameServer({"ORDER_TOPIC_CONFIG": {TOPIC: "broker:4"}})
    server.tables.register(MASTER, 1, 0)
    plain = route(server)
    server.settings["orderMessageEnable"] = "true"
    assert b'"orderTopicConf":"broker:4"' in route(server)[1]
    server.settings["orderMessageEnable"] = "false"
    assert route(server) == plain


def test_a_life_sign_keeps_routes() -> None:
    server = NameServer()
    server.tables.register(MASTER, 1, 0)
    route(server)
    server.tables.register(MASTER, 1, 1)
    assert TOPIC in server.tables.route_bodies
