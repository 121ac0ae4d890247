"""Routes of a producer: the queues of a topic."""

from __future__ import annotations

import time
from itertools import groupby

import pytest

from conformance.client.application import Application, Producer
from conformance.client.calls import AN_ERROR
from conformance.client.scripted.scripted_broker import ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ROUTE, ScriptedCluster
from conformance.client.scripted.scripted_server import (
    close,
    each,
    ignore,
    is_about,
    responding,
)
from conformance.client.timing import CLOCKS_MS
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.routing.route_data import TopicRoute, encode_route
from spec.routing.topic_config import Permission
from spec.wire.remoting.response_code import ResponseCode

ROUTE_TIMEOUT_MS = 3_000

DEFAULT_TOPIC = "TBW102"
FIRST_POLL_S = 1.0
"""Time after the start in which a client has polled the routes that it has.

Java does so after 10 ms, and later on a busy machine. If a first message is being sent
then, the route of its topic is requested twice.
"""
ROUNDS = 6
"""As many messages as take every queue's turn, and more."""


def producer_after_poll(application: Application) -> Producer:
    """Return a producer of a client that has polled its routes for the first time."""
    producer = application.producer()
    time.sleep(FIRST_POLL_S)
    return producer


def places(broker: ScriptedBroker) -> list[int]:
    """Return the queue ids that messages came to, in their order."""
    return [int(header_of(one)["queueId"]) for one in broker.sends]


@pytest.mark.clause("CLIENT-PUBLISH-001")
def test_a_route_is_asked_for_once(
    application: Application,
    cluster: ScriptedCluster,
    broker: ScriptedBroker,
    topic: str,
) -> None:
    producer = producer_after_poll(application)
    for _ in range(3):
        assert producer.send(topic).word == "SEND_OK"
    expect(
        "CLIENT-PUBLISH-001",
        found=len(cluster.name_server.route_requests(topic)),
        expected=1,
        what="questions for the route of three messages' topic",
    )
    first = cluster.name_server.route_requests(topic)[0]
    expect_that(
        "CLIENT-PUBLISH-001",
        first.at_ms <= broker.sends[0].at_ms,
        found=f"{first.at_ms - broker.sends[0].at_ms:.0f} ms after the message",
        expected="a question before the first message",
    )


@pytest.mark.clause("CLIENT-PUBLISH-002", "CLIENT-PUBLISH-003")
@pytest.mark.parametrize(("own", "read", "count"), [(4, 8, 4), (4, 3, 3), (2, 8, 2)])
def test_a_topic_without_a_route_has_queues_of_the_default_topic(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    own: int,
    read: int,
    count: int,
) -> None:
    cluster.route(DEFAULT_TOPIC, {"broker-a": 8}, read=read, permission=7)
    producer = application.producer(default_queue_count=own)
    for _ in range(2 * count):
        expect(
            "CLIENT-PUBLISH-002", found=producer.send(topic).word, expected="SEND_OK"
        )
    request = [
        one.command.fields["topic"] for one in cluster.name_server.requests(ROUTE)
    ]
    assert topic in request, (
        request
    )  # Java requests the default topic's route as it starts
    # Java polls all routes 10 ms after its start: the topic's, perhaps, a second time.
    changes = [name for name, _ in groupby(request[request.index(topic) :])]
    expect(
        "CLIENT-PUBLISH-002",
        found=changes[:2],
        expected=[topic, DEFAULT_TOPIC],
        what="topics of the route requests",
    )
    expect(
        "CLIENT-PUBLISH-003",
        found=sorted(set(places(cluster.broker()))),
        expected=list(range(count)),
        what=f"queues used with {own} of its own and {read} to read",
    )


@pytest.mark.clause("CLIENT-PUBLISH-004")
def test_a_topic_without_any_route_is_not_sent_to(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = cluster.broker()
    outcome = application.producer().send(topic)
    expect("CLIENT-PUBLISH-004", found=outcome.ending, expected=AN_ERROR, what="end")
    expect("CLIENT-PUBLISH-004", found=len(broker.sends), expected=0, what="sends")


@pytest.mark.clause("CLIENT-PUBLISH-005")
def test_a_broker_that_may_not_be_written_to_is_passed_over(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    readable = cluster.route(topic, {"broker-b": 4}, permission=Permission.READ)
    writable = cluster.route(topic, {"broker-a": 2}, permission=Permission.WRITE)
    both = (*readable.queue_datas, *writable.queue_datas)
    datas = (cluster.data("broker-b"), cluster.data("broker-a"))
    cluster.routes[topic] = TopicRoute(queue_datas=both, broker_datas=datas)
    producer = application.producer()
    for _ in range(ROUNDS):
        producer.send(topic)
    expect(
        "CLIENT-PUBLISH-005",
        found=(
            len(cluster.broker("broker-a").sends),
            len(cluster.broker("broker-b").sends),
        ),
        expected=(ROUNDS, 0),
        what="messages to the broker with bit 1 and to the one without",
    )


@pytest.mark.clause("CLIENT-PUBLISH-006")
@pytest.mark.parametrize("lacks", ["the name", "the master"])
def test_a_broker_without_a_master_is_passed_over(
    application: Application, cluster: ScriptedCluster, topic: str, lacks: str
) -> None:
    route = cluster.route(topic, {"broker-a": 2, "broker-b": 2})
    first, second = route.broker_datas
    slave = type(second)(
        cluster=second.cluster,
        broker_name=second.broker_name,
        addresses={1: second.addresses[0]},
    )
    datas = (first,) if lacks == "the name" else (first, slave)
    cluster.routes[topic] = TopicRoute(
        queue_datas=route.queue_datas, broker_datas=datas
    )
    producer = application.producer(retries=0)
    for _ in range(ROUNDS):
        expect(
            "CLIENT-PUBLISH-006", found=producer.send(topic).word, expected="SEND_OK"
        )
    expect(
        "CLIENT-PUBLISH-006",
        found=len(cluster.broker("broker-b").sends),
        expected=0,
        what=f"messages to the broker of which the route lacks {lacks}",
    )


@pytest.mark.clause("CLIENT-PUBLISH-007")
def test_the_write_count_says_how_many_queues(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 3}, read=8)
    producer = application.producer()
    for _ in range(ROUNDS):
        producer.send(topic)
    expect(
        "CLIENT-PUBLISH-007",
        found=sorted(set(places(cluster.broker()))),
        expected=[0, 1, 2],
        what="queue ids",
    )


@pytest.mark.clause("CLIENT-PUBLISH-008")
def test_an_ordered_topic_has_the_queues_of_its_setting(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 8, "broker-b": 8}, order="broker-a:2;broker-b:1")
    producer = application.producer()
    for _ in range(ROUNDS):
        producer.send(topic)
    found = {
        name: sorted(set(places(cluster.broker(name)))) for name in cluster.brokers
    }
    expect(
        "CLIENT-PUBLISH-008",
        found=found,
        expected={"broker-a": [0, 1], "broker-b": [0]},
        what="queue ids by broker",
    )


@pytest.mark.long
@pytest.mark.clause("CLIENT-PUBLISH-011")
def test_a_queue_of_a_broker_without_an_address_is_not_sent_to(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1}, order="broker-x:1")
    producer = producer_after_poll(application)
    outcome = producer.send(topic)
    expect("CLIENT-PUBLISH-011", found=outcome.ending, expected=AN_ERROR, what="end")
    found = (
        len(cluster.broker().sends),
        len(cluster.name_server.route_requests(topic)),
    )
    expect(
        "CLIENT-PUBLISH-011",
        found=found,
        expected=(0, 1),
        what="messages to the other broker, and questions for the route",
    )


@pytest.mark.clause("CLIENT-PUBLISH-010", "CLIENT-PUBLISH-004")
def test_a_silent_name_server_is_given_up(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    server = cluster.name_server
    server.on(ROUTE, ignore)
    sending = application.producer().begin(topic)
    first = server.wait_for(ROUTE)[0]

    def ends_ms() -> list[float]:
        """Return the times that show an end of the wait.

        The client requests another route, such as the default topic's, or the send
        fails.
        """
        later = [one.at_ms for one in server.requests(ROUTE)[1:]]
        return [*later, *([sending.done_at_ms()] if sending.is_done else [])]

    server.wait_until(lambda: bool(ends_ms()), what="an end of the wait")
    waited_ms = min(ends_ms()) - first.at_ms
    expect_that(
        "CLIENT-PUBLISH-010",
        waited_ms >= ROUTE_TIMEOUT_MS - CLOCKS_MS,
        found=f"{waited_ms:.0f} ms",
        expected=f"{ROUTE_TIMEOUT_MS} ms",
        what="wait for a response to the route request",
    )
    ending = sending.outcome().ending
    expect("CLIENT-PUBLISH-004", found=ending, expected=AN_ERROR, what="end")


@pytest.mark.clause("CLIENT-PUBLISH-009")
def test_a_route_is_asked_for_again_and_again(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need_adjustable("route_poll_ms")
    cluster.route(topic, {"broker-a": 1})
    producer = application.producer(route_poll_ms=300)
    producer.send(topic)
    cluster.route(topic, {"broker-b": 1})
    count = len(cluster.name_server.route_requests(topic))
    cluster.name_server.wait_for_route_requests(topic, count + 2)
    producer.send(topic)
    expect(
        "CLIENT-PUBLISH-009",
        found=len(cluster.broker("broker-b").sends),
        expected=1,
        what="messages to the broker that the route has meanwhile",
    )


@pytest.mark.clause("CLIENT-PUBLISH-001", "ROUTE-DATA-004", "ROUTE-DATA-006")
@pytest.mark.parametrize("quoted", [False, True], ids=["bare", "quoted"])
@pytest.mark.parametrize("flags", ["topicSynFlag", "topicSysFlag"])
def test_both_notations_of_a_route_are_read(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    quoted: bool,
    flags: str,
) -> None:
    body = encode_route(cluster.route(topic, {"broker-a": 1}), flags_name=flags)
    assert b"{0:" in body
    cluster.routes[topic] = body.replace(b"{0:", b'{"0":') if quoted else body
    outcome = application.producer().send(topic)
    expect(
        "CLIENT-PUBLISH-001",
        found=outcome.word,
        expected="SEND_OK",
        what=f"a send by {cluster.routes[topic]!r}",
    )


@pytest.mark.clause("CLIENT-PUBLISH-001")
def test_what_is_unknown_in_a_route_is_passed_over(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    route = cluster.route(topic, {"broker-a": 1})
    body = encode_route(route, flags_name="topicSysFlag", acting_master=False)
    more = b'{"later":{"a":[1,null]},"topicQueueMappingByBroker":{},'
    cluster.routes[topic] = more + body[1:]
    outcome = application.producer().send(topic)
    expect(
        "CLIENT-PUBLISH-001", found=outcome.word, expected="SEND_OK", what="the send"
    )


@pytest.mark.clause("CLIENT-NAMESRV-001")
def test_every_name_server_is_asked_in_one_call(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    last = [cluster.add_name_server() for _ in range(2)][-1]
    for one in cluster.name_servers:
        if one is not last:
            one.stop()
    expect(
        "CLIENT-NAMESRV-001",
        found=application.producer().send(topic).word,
        expected="SEND_OK",
        what="a send while all name servers but one are gone",
    )


@pytest.mark.clause("CLIENT-NAMESRV-002")
def test_another_name_server_is_asked_in_the_next_call_at_the_latest(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    cluster.add_name_server()
    cluster.name_server.stop()
    producer = application.producer()
    outcomes = [producer.send(topic).word for _ in range(2)]
    expect(
        "CLIENT-NAMESRV-002",
        found=outcomes[-1],
        expected="SEND_OK",
        what="a second send while one of two name servers is gone",
    )


@pytest.mark.clause("CLIENT-PUBLISH-004")
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null"])
def test_a_route_that_is_none_is_no_route(
    application: Application, cluster: ScriptedCluster, topic: str, body: bytes
) -> None:
    cluster.route(topic, {"broker-a": 1})
    respond_route = cluster.name_server.respond_route
    strange = responding(ResponseCode.SUCCESS, body=body)
    cluster.name_server.on(
        ROUTE,
        lambda one: (strange if is_about(topic, one) else respond_route)(one),
    )
    producer = application.producer()
    producer.send(topic)
    cluster.name_server.on(ROUTE, respond_route)
    expect(
        "CLIENT-PUBLISH-004",
        found=producer.send(topic).word,
        expected="SEND_OK",
        what="a send after a name server answered without a route",
    )


@pytest.mark.clause("CLIENT-NAMESRV-001")
def test_a_connection_that_a_name_server_closed_is_made_anew(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    name_server = cluster.name_server
    name_server.on(ROUTE, each(close, name_server.respond_route))
    producer = application.producer()
    outcomes = [producer.send(topic).word for _ in range(2)]
    expect(
        "CLIENT-NAMESRV-001",
        found=outcomes[-1],
        expected="SEND_OK",
        what="a send after the name server closed the connection",
    )
