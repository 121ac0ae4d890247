"""
Pull requests and commits of a consumer at a scripted broker.
"""

from __future__ import annotations

from functools import partial

from conformance.client.application import Consumer
from conformance.client.calls import body_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, is_about
from conformance.client.timing import SLOW_S
from conformance.harness.pytest_plugin.expectations import expect
from spec.host import Host
from spec.store.message_record import Record
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.request_code import RequestCode

PULL = RequestCode.PULL_MESSAGE
COMMIT = RequestCode.UPDATE_CONSUMER_OFFSET
BACK = RequestCode.CONSUMER_SEND_MSG_BACK
COLLIDING = ("Aa", "BB")
"""Two tags of one hash."""


def one_queue(cluster: ScriptedCluster, topic: str) -> ScriptedBroker:
    """Return a broker that has one queue of the topic."""
    cluster.route(topic, {"broker-a": 1})
    return cluster.broker()


def pulls_of(broker: ScriptedBroker, topic: str) -> list[ReceivedRequest]:
    """Return the pulls of *topic* so far."""
    return [one for one in broker.requests(PULL) if is_about(topic, one)]


def first_pulls(
    broker: ScriptedBroker, topic: str, count: int, *, timeout_s: float = SLOW_S
) -> list[ReceivedRequest]:
    """Return the first pulls of *topic* when they have come."""
    return broker.wait_for(
        PULL, count=count, where=partial(is_about, topic), timeout_s=timeout_s
    )


def first_commit(broker: ScriptedBroker, topic: str, least: int) -> ReceivedRequest:
    """Return the first commit of an offset from *least* on, when it has come."""

    def fits(request: ReceivedRequest) -> bool:
        offset = int(request.command.fields["commitOffset"])
        return is_about(topic, request) and offset >= least

    return broker.wait_for(COMMIT, where=fits)[0]


def record_of(broker: ScriptedBroker, topic: str, body: bytes) -> Record:
    """Return a record of a message with *body*."""
    return Record(
        topic=topic,
        queue_id=0,
        queue_offset=0,
        physical_offset=0,
        body=body,
        properties=encode_properties({"UNIQ_KEY": "7F0000010000000000000000000000AA"}),
        born_at_ms=1_600_000_000_000,
        born_host=Host.of("127.0.0.1", 1),
        stored_at_ms=1_600_000_000_001,
        store_host=Host.of(*broker.address),
    )


def expect_bodies(clause_id: str, consumer: Consumer, *bodies: bytes) -> None:
    """Fail *clause_id* unless the listener gets these bodies, in this order."""
    found = [body_of(one) for one in consumer.wait_for(len(bodies))]
    expect(clause_id, found=found, expected=list(bodies), what="bodies")
