"""A consumer whose offset is reset by an administrator."""

from __future__ import annotations

import pytest

from conformance.client.admin_requests import (
    COUNT,
    commits_of,
    filled,
    queue_of,
    running_info_of,
    send_oneway,
)
from conformance.client.application import Application, Consumer
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import first_commit, pulls_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import PATIENCE_S, ReceivedRequest
from conformance.client.timing import CLOCKS_MS, SLOW_S, SOON_MS
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.wire.bodies.json_body import encode_body
from spec.wire.bodies.offset_tables import ResetOffsetBody
from spec.wire.remoting.request_code import RequestCode

REST_BEFORE_RESET_MS = 10_000


def reset(
    consumer: Consumer, broker: ScriptedBroker, topic: str, offset: int
) -> ReceivedRequest:
    """Reset a consumer's offset to *offset*, and return the response that did it."""
    pull = pulls_of(broker, topic)[-1]
    fields = {
        "topic": topic,
        "group": consumer.group,
        "timestamp": "0",
        "isForce": "true",
    }
    wanted = encode_body(ResetOffsetBody(offsets={queue_of(topic): offset}))
    send_oneway(pull, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, wanted)
    return pull


@pytest.mark.clause("CLIENT-ADMIN-002")
def test_a_consumer_whose_offset_is_reset_goes_on_there(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(topic, options={"persist_ms": SOON_MS})
    consumer.wait_for(COUNT)
    first_commit(broker, topic, COUNT)
    begun_ms = broker.now_ms()
    received = reset(consumer, broker, topic, 2)
    again = consumer.wait_for(COUNT + 3, timeout_s=SLOW_S)[COUNT:]
    expect(
        "CLIENT-ADMIN-002",
        found=sorted(body_of(one) for one in again),
        expected=[b"2", b"3", b"4"],
        what="bodies of the messages that come again",
    )
    resets = [at_ms for at_ms, offset in commits_of(broker, topic) if offset == 2]
    expect_that(
        "CLIENT-ADMIN-002",
        bool(resets) and resets[0] - begun_ms >= REST_BEFORE_RESET_MS - CLOCKS_MS,
        found=[round(at_ms - begun_ms) for at_ms in resets],
        expected=f"{REST_BEFORE_RESET_MS} ms or more until offset 2 is committed",
        what="milliseconds until offset 2 is committed",
    )
    codes = [one.code for one in received.connection.responses]
    expect("CLIENT-ADMIN-002", found=codes, expected=[], what="answers")


def wait_until_dropped(
    request: ReceivedRequest, consumer: Consumer, topic: str
) -> None:
    """Return when *consumer* reports that it has dropped the queue of *topic*."""

    def is_dropped() -> bool:
        queue = running_info_of(request, consumer.group).queues.get(queue_of(topic))
        return queue is not None and queue.is_dropped

    wait_until(is_dropped, what="the queue is dropped", timeout_s=PATIENCE_S)


@pytest.mark.clause("CLIENT-ADMIN-002")
def test_what_is_under_way_is_not_committed_after_a_reset(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(
        topic, outcomes={"k4": ["hold"]}, options={"persist_ms": SOON_MS}
    )
    consumer.wait_for(COUNT)
    begun_ms = broker.now_ms()
    reset_request = reset(consumer, broker, topic, 1)
    wait_until_dropped(reset_request, consumer, topic)
    broker.put(topic, b"new")
    consumer.release("k4")
    consumer.wait_for(2 * COUNT, timeout_s=SLOW_S)
    received = commits_of(broker, topic)
    offsets = [offset for at_ms, offset in received if at_ms >= begun_ms]
    before = offsets[: offsets.index(1)] if 1 in offsets else offsets
    expect(
        "CLIENT-ADMIN-002",
        found=[offset for offset in before if offset >= COUNT],
        expected=[],
        what="offsets of dropped messages that were committed before the reset",
    )
