"""Offsets and send-backs of a push consumer, for handled and failed messages."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import (
    BACK,
    COMMIT,
    PULL,
    expect_bodies,
    first_commit,
    one_queue,
    pulls_of,
)
from conformance.client.scripted.scripted_broker import locked_names
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, is_about
from conformance.client.timing import SOON_MS
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.consumer.pull import PullFlag
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.request_code import RequestCode

LATER_MS = 60_000
"""A period that is longer than a test waits."""
LOCK, UNLOCK = RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ


@pytest.mark.clause("CLIENT-COMMIT-001")
def test_what_was_handled_is_committed_oneway(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for number in range(3):
        broker.put(topic, b"%d" % number)
    options = {"persist_ms": SOON_MS}
    consumer = application.consumer(topic, options=options)
    consumer.wait_for(3)
    received = first_commit(broker, topic, 3).command
    expect("CLIENT-COMMIT-001", found=received.is_oneway, expected=True, what="oneway")
    expect(
        "CLIENT-COMMIT-001",
        found=(received.fields["consumerGroup"], received.fields["queueId"]),
        expected=(consumer.group, "0"),
        what="group and queue",
    )


@pytest.mark.clause("CLIENT-COMMIT-001")
def test_a_consumer_commits_with_a_pull_and_when_it_loses_a_queue(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    consumer = application.consumer(topic, options={"persist_ms": LATER_MS})
    for number in range(2):
        broker.put(topic, b"%d" % number)
        consumer.wait_for(number + 1)

    def commits(request: ReceivedRequest) -> bool:
        fields = request.command.fields
        is_set = bool(int(fields["sysFlag"]) & PullFlag.COMMIT_OFFSET)
        return is_about(topic, request) and is_set and int(fields["commitOffset"]) > 0

    broker.put(topic, b"2")
    pull = broker.wait_for(PULL, where=commits)[0]
    broker.members = ["0@first"]
    broker.notify_consumer_ids_changed(pull, consumer.group)
    first_commit(broker, topic, 1)


@pytest.mark.clause("CLIENT-COMMIT-001")
def test_a_consumer_that_ends_commits(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.put(topic, b"0")
    broker.put(topic, b"1", KEYS="held")
    consumer = application.consumer(topic, outcomes={"held": ["hold"]})
    consumer.wait_for(2)
    ending = application.stop(consumer.name)
    consumer.release("held")  # the C++ client waits for its listener
    ending.wait()
    found = broker.wait_for(COMMIT)[0].command.fields
    expect("CLIENT-COMMIT-001", found=found["topic"], expected=topic, what="topic")


@pytest.mark.clause("CLIENT-COMMIT-002")
def test_the_first_message_that_is_not_handled_is_what_is_committed(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for number in range(5):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    consumer = application.consumer(
        topic, outcomes={"k2": ["hold"]}, options={"persist_ms": SOON_MS}
    )
    consumer.wait_for(5)
    expect(
        "CLIENT-COMMIT-002",
        found=first_commit(broker, topic, 2).command.fields["commitOffset"],
        expected="2",
        what="commitOffset while message 2 is not handled",
    )
    consumer.release("k2")
    first_commit(broker, topic, 5)
    found = {
        int(one.command.fields["commitOffset"])
        for one in broker.requests(COMMIT)
        if is_about(topic, one)
    }
    expect(
        "CLIENT-COMMIT-002",
        found=sorted(found & {3, 4}),
        expected=[],
        what="committed offsets behind the message that was not handled",
    )


@pytest.mark.clause("CLIENT-SENDBACK-001")
@pytest.mark.parametrize("word", ["later", "fail"])
def test_a_message_that_was_not_handled_goes_back(
    application: Application, cluster: ScriptedCluster, topic: str, word: str
) -> None:
    broker = one_queue(cluster, topic)
    record = broker.put(topic, b"bad", KEYS="k")
    consumer = application.consumer(topic, outcomes={"k": [word]})
    back = broker.wait_for(BACK)[0].command.fields
    expect_fields(
        "CLIENT-SENDBACK-001",
        found=back,
        expected={
            "group": consumer.group,
            "originTopic": topic,
            "offset": str(record.physical_offset),
            "delayLevel": "0",
            "maxReconsumeTimes": "16",
        },
    )
    ids = encode_message_id(record.store_host, record.physical_offset)
    expect_that(
        "CLIENT-SENDBACK-001",
        back.get("originMsgId") in {ids, None, ""},
        found=back.get("originMsgId"),
        expected=ids,
        what="originMsgId",
    )


@pytest.mark.clause("CLIENT-SENDBACK-002")
def test_a_message_from_the_retry_topic_has_its_first_topic(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    group = unique_name("group")
    retries = f"%RETRY%{group}"
    broker = one_queue(cluster, topic)
    cluster.route(retries, {"broker-a": 1})
    broker.put(retries, b"again", RETRY_TOPIC=topic, KEYS="k")
    message = application.consumer(topic, group=group).wait_for()[0]
    expect(
        "CLIENT-SENDBACK-002",
        found=(message["topic"], body_of(message)),
        expected=(topic, b"again"),
        what="topic and body",
    )


@pytest.mark.clause("CLIENT-ORDERLY-001")
def test_a_queue_is_locked_before_it_is_pulled(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.put(topic, b"one")
    consumer = application.consumer(topic, order="orderly")
    expect_bodies("CLIENT-ORDERLY-001", consumer, b"one")
    locks = [one for one in broker.requests(LOCK) if topic in str(locked_names(one))]
    pull = pulls_of(broker, topic)[0]
    expect_that(
        "CLIENT-ORDERLY-001",
        bool(locks) and broker.received.index(locks[0]) < broker.received.index(pull),
        found=[one.command.code for one in broker.received],
        expected=f"a request {int(LOCK)} before the first {int(PULL)}",
        what="requests",
    )


@pytest.mark.clause("CLIENT-ORDERLY-001")
def test_a_queue_that_cannot_be_locked_is_not_pulled(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.locks = False
    broker.put(topic, b"one")
    consumer = application.consumer(topic, order="orderly")
    broker.notify_consumer_ids_changed(broker.wait_for(LOCK)[0], consumer.group)
    # It tries again, for it has not got the queue; or it reads it all the same.
    broker.wait_until(
        lambda: len(broker.requests(LOCK)) > 1 or bool(broker.requests(PULL)),
        what="a queue is locked once more, or pulled",
    )
    consumer.stop()
    found = len(pulls_of(broker, topic))
    expect("CLIENT-ORDERLY-001", found=found, expected=0, what="pulls without a lock")


@pytest.mark.clause("CLIENT-ORDERLY-003")
def test_a_consumer_in_order_that_ends_unlocks(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.put(topic, b"one")
    consumer = application.consumer(topic, order="orderly")
    consumer.wait_for(1)
    consumer.stop()

    def is_unlocked() -> bool:
        return any(topic in str(locked_names(one)) for one in broker.requests(UNLOCK))

    broker.wait_until(
        lambda: is_unlocked() or broker.has_no_connection,
        what="the queue is unlocked, or the client has hung up",
    )
    expect_that(
        "CLIENT-ORDERLY-003",
        is_unlocked(),
        found=[str(locked_names(one)) for one in broker.requests(UNLOCK)],
        expected=f"a queue of {topic}",
        what="queues that are unlocked",
    )


@pytest.mark.clause("CLIENT-ORDERLY-004")
def test_in_order_a_message_that_failed_comes_again_before_any_other(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for number in range(3):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    consumer = application.consumer(
        topic, order="orderly", outcomes={"k1": ["later", "later"]}
    )
    expect_bodies("CLIENT-ORDERLY-004", consumer, b"0", b"1", b"1", b"1", b"2")
    expect(
        "CLIENT-ORDERLY-004",
        found=len(broker.requests(BACK)),
        expected=0,
        what="messages that go back to the broker",
    )
