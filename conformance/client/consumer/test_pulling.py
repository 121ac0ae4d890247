"""Pull requests of a push consumer, their offsets, and the responses to them."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import (
    COLLIDING,
    PULL,
    first_pulls,
    one_queue,
    record_of,
)
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster, with_slave
from conformance.client.scripted.scripted_server import (
    each,
    ignore,
    responding,
)
from conformance.client.timing import CLOCKS_MS, SOON_MS
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.host import Host
from spec.store.message_record import MAGIC_V2, SystemFlag
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.response_code import ResponseCode

AFTER_ERROR_MS = 1_000


@pytest.mark.clause("CLIENT-SUBSCRIBE-001")
def test_a_consumer_pulls_the_queues_that_can_be_read(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1}, read=3)
    application.consumer(topic)
    pulls = first_pulls(cluster.broker(), topic, 3)
    expect(
        "CLIENT-SUBSCRIBE-001",
        found=sorted(one.command.fields["queueId"] for one in pulls),
        expected=["0", "1", "2"],
        what="queues that are pulled of a topic with 3 to read and 1 to write",
    )


@pytest.mark.clause("CLIENT-PULL-006")
def test_a_pull_says_what_is_wanted(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    consumer = application.consumer(topic)
    fields = first_pulls(broker, topic, 1)[0].command.fields
    expect_fields(
        "CLIENT-PULL-006",
        found=fields,
        expected={
            "consumerGroup": consumer.group,
            "suspendTimeoutMillis": "15000",
            "queueOffset": "0",
            "maxMsgNums": "32",
        },
    )
    held = bool(int(fields["sysFlag"]) & PullFlag.SUSPEND)
    expect("CLIENT-PULL-006", found=held, expected=True, what="bit to hold the pull")


@pytest.mark.clause("CLIENT-PULL-001", "CLIENT-PULL-005")
@pytest.mark.parametrize("code", [19, 20])
def test_a_consumer_goes_on_where_it_is_told(
    application: Application, cluster: ScriptedCluster, topic: str, code: int
) -> None:
    broker = one_queue(cluster, topic)
    broker.on(
        PULL, each(partial(broker.respond_to_pull, code=code, next_offset=5), ignore)
    )
    application.consumer(topic)
    found = first_pulls(broker, topic, 2)[1].command.fields["queueOffset"]
    expect("CLIENT-PULL-005", found=found, expected="5", what=f"offset after {code}")


@pytest.mark.long
@pytest.mark.clause("CLIENT-PULL-001", "CLIENT-PULL-005")
def test_a_consumer_whose_offset_is_wrong_goes_on_where_it_is_told(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    moved = partial(
        broker.respond_to_pull, code=ResponseCode.PULL_OFFSET_MOVED, next_offset=5
    )
    broker.on(PULL, each(moved, ignore))
    application.consumer(topic)
    found = first_pulls(broker, topic, 2)[1].command.fields["queueOffset"]
    expect("CLIENT-PULL-005", found=found, expected="5", what="offset after 21")


@pytest.mark.long
@pytest.mark.clause("CLIENT-PULL-012", "CLIENT-PULL-001")
def test_after_an_error_a_consumer_pulls_again_in_a_second(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    refusal = responding(ResponseCode.SYSTEM_ERROR, remark="no")
    broker.on(PULL, each(refusal, ignore))
    application.consumer(topic)
    first, second = first_pulls(broker, topic, 2)
    expect_that(
        "CLIENT-PULL-012",
        second.at_ms - first.at_ms >= AFTER_ERROR_MS - CLOCKS_MS,
        found=f"{second.at_ms - first.at_ms:.0f} ms",
        expected=f"{AFTER_ERROR_MS} ms, and no less, between two pulls",
    )


@pytest.mark.clause("CLIENT-PULL-002")
def test_a_tag_that_only_has_the_same_hash_is_dropped(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    wanted, other = COLLIDING
    broker = one_queue(cluster, topic)
    broker.put(topic, b"other", TAGS=other)
    broker.put(topic, b"wanted", TAGS=wanted)
    consumer = application.consumer(topic, expression=wanted)
    first = consumer.wait_for()[0]
    expect("CLIENT-PULL-002", found=first.get("tags"), expected=wanted, what="tag")
    expect("CLIENT-PULL-002", found=body_of(first), expected=b"wanted", what="body")


@pytest.mark.clause("CLIENT-PULL-003", "CLIENT-PULL-004")
def test_the_next_pull_goes_to_the_suggested_broker(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    master, slave = with_slave(cluster, topic)
    master.suggests = slave.suggests = 1
    master.put(topic, b"one")
    slave.put(topic, b"one")
    consumer = application.consumer(topic)
    # Each is handled before the next comes, so that there is something to commit.
    for count, body in enumerate([b"two", b"three"], start=1):
        consumer.wait_for(count)
        slave.put(topic, body)
    consumer.wait_for(3)
    pulls = first_pulls(slave, topic, 3)
    expect(
        "CLIENT-PULL-003",
        found=pulls[0].command.fields["queueOffset"],
        expected="1",
        what="offset of the first pull at the slave",
    )
    commits = [
        int(one.command.fields["sysFlag"]) & PullFlag.COMMIT_OFFSET for one in pulls
    ]
    expect("CLIENT-PULL-004", found=commits, expected=[0, 0, 0], what="bits to commit")


@pytest.mark.clause("CLIENT-PULL-003", "CLIENT-PULL-004")
def test_a_slave_that_replaces_its_master_is_sent_no_commit(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need_adjustable("route_poll_ms")
    master, slave = with_slave(cluster, topic)
    for broker in (master, slave):
        broker.put(topic, b"one")
    consumer = application.consumer(topic, options={"route_poll_ms": SOON_MS})
    consumer.wait_for(1)
    waiting = first_pulls(master, topic, 2)[1]
    with_slave(cluster, topic, has_master=False)
    count = len(cluster.name_server.route_requests(topic))
    cluster.name_server.wait_for_route_requests(topic, count + 2)
    master.respond_to_pull(waiting, ResponseCode.PULL_NOT_FOUND, next_offset=1)
    slave.put(topic, b"two")
    consumer.wait_for(2)
    flags = [int(one.command.fields["sysFlag"]) for one in first_pulls(slave, topic, 2)]
    commits = [one & PullFlag.COMMIT_OFFSET for one in flags]
    expect("CLIENT-PULL-004", found=commits, expected=[0, 0], what="bits to commit")


@pytest.mark.clause("CLIENT-PULL-003")
def test_a_suggested_broker_that_is_not_there_is_replaced(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.suggests = 7
    broker.put(topic, b"one")
    consumer = application.consumer(topic)
    consumer.wait_for(1)
    broker.put(topic, b"two")
    found = [body_of(one) for one in consumer.wait_for(2)]
    expect("CLIENT-PULL-003", found=found, expected=[b"one", b"two"], what="bodies")


@pytest.mark.clause("CLIENT-PULL-013")
def test_a_message_with_an_empty_body_is_handed_out_as_any_other(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    bodies = [b"before", b"", b"behind"]
    for body in bodies:
        broker.put(topic, body)
    consumer = application.consumer(topic, order="orderly")
    consumer.wait_for(where=lambda one: body_of(one) == bodies[-1])
    found = [body_of(one) for one in consumer.messages()]
    expect("CLIENT-PULL-013", found=found, expected=bodies, what="bodies")


@pytest.mark.clause("CLIENT-PULL-007")
def test_a_compressed_body_is_handed_out_as_it_was(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    body = b"rocketmq" * 1000
    packed = record_of(broker, topic, zlib.compress(body))
    broker.put_record(replace(packed, system_flags=SystemFlag.COMPRESSED))
    found = body_of(application.consumer(topic).wait_for()[0])
    expect("CLIENT-PULL-007", found=found, expected=body, what="body")


@pytest.mark.clause("CLIENT-PULL-001")
def test_a_record_of_hosts_with_ipv6_is_read(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    host = Host.of("2001:db8::1", 10911)
    flags = SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6
    made = record_of(broker, topic, b"six")
    broker.put_record(
        replace(made, system_flags=flags, born_host=host, store_host=host)
    )
    found = body_of(application.consumer(topic).wait_for()[0])
    expect("CLIENT-PULL-001", found=found, expected=b"six", what="body")


@pytest.mark.clause("CLIENT-PULL-015")
def test_a_record_of_version_2_is_read(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    made = record_of(broker, topic, b"two")
    broker.put_record(replace(made, magic=MAGIC_V2))
    broker.put(topic, b"one behind it")
    found = sorted(body_of(one) for one in application.consumer(topic).wait_for(2))
    expected = [b"one behind it", b"two"]
    expect("CLIENT-PULL-015", found=found, expected=expected, what="bodies, sorted")


@pytest.mark.clause("CLIENT-PULL-001")
def test_a_response_with_many_records_is_read_to_its_end(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    bodies = [b"%d" % number for number in range(40)]
    for body in bodies:
        broker.put(topic, body, largest="x" * 100)
    found = application.consumer(topic).wait_for(40)
    expect(
        "CLIENT-PULL-001",
        found=sorted(body_of(one) for one in found),
        expected=sorted(bodies),
        what="bodies",
    )


def put_five(broker: ScriptedBroker, topic: str) -> None:
    """Put messages with the bodies 0 to 4, each its offset in queue 0."""
    for number in range(5):
        broker.put(topic, b"%d" % number)


@pytest.mark.clause("CLIENT-CONSUMEFROM-001")
def test_a_consumer_begins_at_the_committed_offset(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    group = unique_name("group")
    put_five(broker, topic)
    broker.offsets[group, topic, 0] = 3
    received = application.consumer(topic, group=group).wait_for(2)
    # Threads of the client hand out both messages, in any order.
    expect(
        "CLIENT-CONSUMEFROM-001",
        found=sorted(map(body_of, received)),
        expected=[b"3", b"4"],
        what="bodies",
    )


@pytest.mark.clause("CLIENT-CONSUMEFROM-002")
@pytest.mark.parametrize(("begin", "offset"), [("first", "0"), ("last", "5")])
def test_a_new_group_begins_where_it_is_set_to(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    begin: str,
    offset: str,
) -> None:
    broker = one_queue(cluster, topic)
    put_five(broker, topic)
    application.consumer(topic, **{"from": begin})
    found = first_pulls(broker, topic, 1)[0].command.fields["queueOffset"]
    expect(
        "CLIENT-CONSUMEFROM-002", found=found, expected=offset, what=f"from the {begin}"
    )


@pytest.mark.clause("CLIENT-CONSUMEFROM-002")
def test_a_new_group_begins_its_retry_topic_at_0(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    group = unique_name("group")
    retries = f"%RETRY%{group}"
    cluster.route(retries, {"broker-a": 1})
    broker.put(retries, b"again", RETRY_TOPIC=topic)
    application.consumer(topic, group=group, **{"from": "last"})
    found = first_pulls(broker, retries, 1)[0].command.fields["queueOffset"]
    expect("CLIENT-CONSUMEFROM-002", found=found, expected="0", what="first offset")


@pytest.mark.clause("CLIENT-CONSUMEFROM-002")
def test_a_new_group_whose_offset_is_0_begins_there_and_not_at_the_max_offset(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    group = unique_name("group")
    put_five(broker, topic)
    broker.offsets[group, topic, 0] = 0  # returned while message 0 is in memory
    application.consumer(topic, group=group, **{"from": "last"})
    found = first_pulls(broker, topic, 1)[0].command.fields["queueOffset"]
    expect("CLIENT-CONSUMEFROM-002", found=found, expected="0", what="first offset")
