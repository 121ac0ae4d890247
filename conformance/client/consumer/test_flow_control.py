"""Flow control: limits of the messages that a consumer pulls ahead."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import pytest

from conformance.client.application import Application
from conformance.client.consumer.pulls import (
    PULL,
    first_pulls,
    one_queue,
    pulls_of,
    record_of,
)
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    PATIENCE_S,
    each,
    ignore,
    is_about,
)
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.store.message_record import encode_record
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.request_code import RequestCode

BACKLOG_COUNT_MAX = 1_000
BACKLOG_SPAN_MAX = 2_000

HEARTBEAT = RequestCode.HEART_BEAT
BEATS = {"heartbeat_ms": 200}
PAUSE_S = 3.0
"""For a client whose heartbeats have a fixed interval; 60 times the delay of a pull."""
HOLD = ["hold"]
MIB = 1 << 20


def let_time_pass(application: Application, broker: ScriptedBroker) -> None:
    """Return some heartbeats later: long after a pull that does not wait."""
    if "heartbeat_ms" in application.intervals:
        time.sleep(PAUSE_S)
        return
    broker.wait_for(HEARTBEAT, count=len(broker.requests(HEARTBEAT)) + 4)


def expect_pulls(
    clause_id: str,
    application: Application,
    broker: ScriptedBroker,
    topic: str,
    count: int,
) -> None:
    """Fail *clause_id* unless the topic is pulled *count* times, and no more."""
    first_pulls(broker, topic, count)
    let_time_pass(application, broker)
    found = len(pulls_of(broker, topic))
    expect(clause_id, found=found, expected=count, what="pulls")


def held(count: int) -> dict[str, list[str]]:
    """Return the outcomes of so many messages that the application holds."""
    return {f"k{number}": HOLD for number in range(count)}


@pytest.mark.long
@pytest.mark.clause("CLIENT-PULL-008")
def test_it_is_at_most_a_thousand_messages_ahead(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for number in range(BACKLOG_COUNT_MAX + 200):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    consumer = application.consumer(
        topic, order="orderly", outcomes=held(1), options=BEATS
    )
    fields = first_pulls(broker, topic, 1)[0].command.fields
    count = BACKLOG_COUNT_MAX // int(fields["maxMsgNums"]) + 1
    expect_pulls("CLIENT-PULL-008", application, broker, topic, count)
    consumer.release("k0")
    first_pulls(broker, topic, count + 1)


@pytest.mark.clause("CLIENT-PULL-008")
def test_it_pulls_on_when_fewer_messages_wait(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    limit = 5
    for number in range(limit + 3):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    consumer = application.consumer(
        topic,
        outcomes=held(limit + 3),
        options={**BEATS, "threshold_count": limit, "pull_batch": 1},
    )
    consumer.wait_for(1)
    expect_pulls("CLIENT-PULL-008", application, broker, topic, limit + 1)
    consumer.release("k0")
    expect_pulls("CLIENT-PULL-008", application, broker, topic, limit + 2)


@pytest.mark.clause("CLIENT-PULL-008")
def test_it_pulls_on_when_fewer_bytes_wait(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for number in range(4):
        broker.put(topic, bytes(MIB), KEYS=f"k{number}")
    consumer = application.consumer(
        topic,
        outcomes=held(4),
        options={**BEATS, "threshold_mib": 1, "pull_batch": 1},
    )
    consumer.wait_for(1)
    expect_pulls("CLIENT-PULL-008", application, broker, topic, 2)
    consumer.release("k0")
    expect_pulls("CLIENT-PULL-008", application, broker, topic, 3)


def two_apart(cluster: ScriptedCluster, topic: str, distance: int) -> ScriptedBroker:
    """Return a broker with two messages, so far apart, and no later ones."""
    broker = one_queue(cluster, topic)
    responses = []
    for number, offset in enumerate((0, distance)):
        made = record_of(broker, topic, b"%d" % number)
        properties = encode_properties({"KEYS": f"k{number}"})
        body = encode_record(replace(made, queue_offset=offset, properties=properties))
        responses.append(
            partial(broker.respond_to_pull, code=0, next_offset=offset + 1, body=body)
        )
    broker.on(PULL, each(*responses, ignore))
    return broker


@pytest.mark.clause("CLIENT-PULL-008")
@pytest.mark.parametrize("beyond", [0, 1])
def test_what_waits_is_not_too_far_apart(
    application: Application, cluster: ScriptedCluster, topic: str, beyond: int
) -> None:
    broker = two_apart(cluster, topic, BACKLOG_SPAN_MAX + beyond)
    consumer = application.consumer(topic, outcomes=held(2), options=BEATS)
    consumer.wait_for(2)
    expect_pulls("CLIENT-PULL-008", application, broker, topic, 3 - beyond)
    consumer.release("k1")  # the rest has no distance
    first_pulls(broker, topic, 3, timeout_s=PATIENCE_S)


@pytest.mark.clause("CLIENT-PULL-011")
def test_in_order_what_waits_may_be_any_distance_apart(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = two_apart(cluster, topic, 2 * BACKLOG_SPAN_MAX)
    consumer = application.consumer(
        topic, order="orderly", outcomes=held(1), options=BEATS
    )
    consumer.wait_for(1)
    expect_pulls("CLIENT-PULL-011", application, broker, topic, 3)


@pytest.mark.clause("CLIENT-PULL-010")
def test_the_threshold_of_a_topic_is_divided_among_all_queues(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    group = unique_name("group")
    retries = f"%RETRY%{group}"
    cluster.route(topic, {"broker-a": 2})
    cluster.route(retries, {"broker-a": 2})
    broker = cluster.broker()
    consumer = application.consumer(
        topic,
        group=group,
        outcomes=held(20),
        options={**BEATS, "topic_threshold_count": 8, "pull_batch": 1},
    )
    for name in (topic, retries):
        broker.wait_for(PULL, count=2, where=partial(is_about, name))
    let_time_pass(application, broker)  # Java divides when it has begun to pull
    for number in range(20):
        broker.put(topic, b"x", queue_id=number % 2, KEYS=f"k{number}")
    consumer.wait_for(6)
    expect_pulls("CLIENT-PULL-010", application, broker, topic, 2 * 3)
    expect(
        "CLIENT-PULL-010", found=len(consumer.messages()), expected=6, what="messages"
    )
