"""Administration: topics, statistics and settings of a running broker."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.pytest_plugin.known_settings import need_reported
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Target
from conformance.messaging.admin.data_version import version_in
from conformance.messaging.stored_messages import (
    bodies_of,
    mapping_of,
    record_of,
    records_of,
    send_bodies,
)
from spec.clause import release_key
from spec.wire.bodies.fastjson import loads
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode


def by_queue(table: Mapping[Any, Any], topic: str) -> dict[Any, Any]:
    """Return the rows of *topic*'s queues by queue id.

    A key may be an object or its text. Its form is the subject of WIRE-FASTJSON-002.
    Rows of another topic keep their key.
    """
    found = {}
    for key, value in table.items():
        queue: Any = loads(key) if isinstance(key, str) else key
        names = dict(queue)
        found[names["queueId"] if names["topic"] == topic else key] = value
    return found


def expect_rows(
    clause: str,
    broker: Client,
    *,
    found: Mapping[Any, Any],
    expected: Mapping[int, Mapping[str, int]],
) -> None:
    """Fail *clause* unless *found* has the *expected* queues with their values."""
    queues = sorted(found, key=str)
    expect(
        clause,
        found=queues,
        expected=[*expected],
        what="queues",
        transcript=broker.transcript,
    )
    for queue, values in expected.items():
        expect_fields(
            clause,
            found=found[queue],
            expected=values,
            transcript=broker.transcript,
        )


def config_of(broker: Client, topic: str) -> tuple[Mapping[str, Any], list[int]]:
    """Return a topic's configuration; counter and time of the table's version."""
    table = mapping_of(broker.all_topic_config())
    return table["topicConfigTable"].get(topic, {}), version_in(table)


@pytest.mark.clause("ADMIN-TOPIC-001", "ADMIN-TOPIC-005")
@pytest.mark.parametrize(
    ("write", "read", "perm", "kind", "flags"),
    [
        (1, 1, 6, "SINGLE_TAG", 0),
        (16, 3, 4, "MULTI_TAG", 1),
        (2, 8, 2, "SINGLE_TAG", 2),
    ],
)
def test_a_created_topic_is_as_it_was_asked_for(
    broker: Client,
    unique: Callable[[str], str],
    write: int,
    read: int,
    perm: int,
    kind: str,
    flags: int,
) -> None:
    topic = unique("made")
    before = config_of(broker, topic)[1]
    require_success(
        broker.create_topic(
            topic=topic,
            queue_count=write,
            read_queue_count=read,
            permissions=perm,
            filter_type=kind,
            system_flags=flags,
        )
    )
    wait_until(lambda: bool(config_of(broker, topic)[0]), what=f"{topic} is listed")
    found, version = config_of(broker, topic)
    expect_fields(
        "ADMIN-TOPIC-001",
        found=found,
        expected={
            "topicName": topic,
            "writeQueueNums": write,
            "readQueueNums": read,
            "perm": perm,
            "topicFilterType": kind,
            "topicSysFlag": flags,
            "order": False,
        },
        transcript=broker.transcript,
    )
    grown = version[0] > before[0], version[1] >= before[1] > 0
    expect(
        "ADMIN-TOPIC-005",
        found=grown,
        expected=(True, True),
        what="a higher counter, and a time that is not earlier",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-TOPIC-002")
def test_a_changed_topic_keeps_its_messages(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"kept"])
    require_success(broker.create_topic(topic=topic, queue_count=6, permissions=6))
    wait_until(
        lambda: config_of(broker, topic)[0].get("writeQueueNums") == 6,
        what=f"{topic} has 6 queues",
    )
    found = broker.send_message(topic=topic, queue_id=5).code
    expect(
        "ADMIN-TOPIC-002",
        found=found,
        expected=ResponseCode.SUCCESS,
        what="code",
        transcript=broker.transcript,
    )
    kept = bodies_of(broker.pull(topic=topic, offset=0))
    expect(
        "ADMIN-TOPIC-002",
        found=kept,
        expected=[b"kept"],
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-TOPIC-003")
def test_a_topic_is_not_called_like_the_cluster(
    broker: Client, target: SharedTarget
) -> None:
    response = broker.create_topic(topic=target.cluster)
    refused = response.code != ResponseCode.SUCCESS
    expect_that(
        "ADMIN-TOPIC-003",
        refused,
        found=response.code,
        expected="an error",
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.settings(authorizationEnabled="false")  # it reads the fields before
@pytest.mark.clause("ADMIN-TOPIC-010")
@pytest.mark.parametrize("filter_type", [None, "BOTH"])
def test_a_topic_has_one_of_two_filter_types(
    broker: Client, unique: Callable[[str], str], filter_type: str | None
) -> None:
    response = broker.create_topic(topic=unique("filtered"), filter_type=filter_type)
    code = ResponseCode.SYSTEM_ERROR
    expect_code("ADMIN-TOPIC-010", response, code, broker.transcript)


@pytest.mark.clause("ADMIN-TOPIC-004")
def test_a_deleted_topic_is_gone(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b"])
    require_success(broker.delete_topic(topic=topic))
    expect(
        "ADMIN-TOPIC-004",
        found=broker.pull(topic=topic, offset=0).code,
        expected=ResponseCode.TOPIC_NOT_EXIST,
        what="code",
        transcript=broker.transcript,
    )
    wait_until(
        lambda: require_success(broker.max_offset(topic=topic)).fields["offset"] == "0",
        what="the deleted topic's max offset is 0",
    )


@pytest.mark.clause("ADMIN-STATS-001")
def test_a_topics_statistics_give_every_queue(
    target: Target, broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    send_bodies(broker, topic, [b"d"], queue_id=1)
    last = {
        queue_id: records_of(broker.pull(topic=topic, queue_id=queue_id, offset=offset))
        for queue_id, offset in ((0, 2), (1, 0))
    }
    stats = mapping_of(broker.topic_stats(topic=topic))["offsetTable"]
    expect_rows(
        "ADMIN-STATS-001",
        broker,
        found=by_queue(stats, topic),
        expected={
            queue_id: {
                "minOffset": 0,
                "maxOffset": count,
                "lastUpdateTimestamp": last[queue_id][0].stored_at_ms if count else 0,
            }
            for queue_id, count in enumerate((3, 1, 0, 0))
        },
    )
    other = create_topic(target, unique("other"), queue_count=1, read_queue_count=2)
    stats = mapping_of(broker.topic_stats(topic=other))["offsetTable"]
    are_read_only_listed = release_key(target.release) >= release_key("5.3")
    expect(
        "ADMIN-STATS-001",
        found=sorted(by_queue(stats, other)),
        expected=[0, 1] if are_read_only_listed else [0],
        what="queues of a topic with one write queue and two read queues",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-STATS-002", "ADMIN-STATS-003", "ADMIN-STATS-004")
def test_a_groups_statistics_give_what_it_committed(
    target: Target,
    broker: Client,
    topic: str,
    known_group: str,
    unique: Callable[[str], str],
) -> None:
    other = create_topic(target, unique("other"), queue_count=1, read_queue_count=2)
    require_success(broker.update_offset(group=known_group, topic=other, offset=0))
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    require_success(broker.update_offset(group=known_group, topic=topic, offset=2))
    consumed = records_of(broker.pull(topic=topic, offset=1))[0].stored_at_ms
    stats = mapping_of(broker.consume_stats(group=known_group, topic=topic))
    expect_rows(
        "ADMIN-STATS-002",
        broker,
        found=by_queue(stats["offsetTable"], topic),
        expected={
            queue_id: {
                "brokerOffset": end,
                "consumerOffset": committed,
                "lastTimestamp": consumed if committed else 0,
            }
            for queue_id, (end, committed) in enumerate([(3, 2), *[(0, 0)] * 3])
        },
    )
    everything = mapping_of(broker.consume_stats(group=known_group))["offsetTable"]
    counts = (topic, 4), (other, 2)
    expect(
        "ADMIN-STATS-002",
        found=sorted((one["topic"], one["queueId"]) for one in map(dict, everything)),
        expected=sorted((name, n) for name, count in counts for n in range(count)),
        what="topics and read queues in the statistics of a request without a topic",
        transcript=broker.transcript,
    )
    table = mapping_of(broker.all_consumer_offsets())["offsetTable"]
    found = {int(k): v for k, v in table[f"{topic}@{known_group}"].items()}
    expect(
        "ADMIN-STATS-003",
        found=found,
        expected={0: 2},
        what="committed offsets",
        transcript=broker.transcript,
    )
    subscriber = unique("subscriber")
    consumer = consumer_data(
        group=subscriber, subscriptions=[subscription_data(topic=topic)]
    )
    require_success(broker.heartbeat(client_id=subscriber, consumers=[consumer]))
    groups = mapping_of(broker.group_topics(topic=topic))["groupList"]
    if target.release == "5.3.3":  # ConsumerManager#registerConsumer
        groups = [subscriber if name == topic else name for name in groups]
    expect(
        "ADMIN-STATS-004",
        found=sorted(groups),
        expected=sorted([known_group, subscriber]),
        what="groups, the one with an offset and the one that subscribes",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CONFIG-001")
def test_settings_are_lines_with_the_names_of_java(
    broker: Client, target: SharedTarget
) -> None:
    expected = {
        "brokerName": target.broker_name,
        "brokerClusterName": target.cluster,
        "listenPort": str(broker.address.port),
    }
    for _ in range(2):  # a second request has the same response
        text = require_success(broker.broker_config()).body.decode()
        found = [line for line in text.splitlines() if line.startswith(tuple(expected))]
        expect(
            "ADMIN-CONFIG-001",
            found=sorted(found),
            expected=sorted(f"{name}={value}" for name, value in expected.items()),
            what="lines of these settings",
            transcript=broker.transcript,
        )


@pytest.mark.clause("ADMIN-CONFIG-002")
def test_a_broker_says_its_release(broker: Client) -> None:
    table = mapping_of(broker.broker_runtime_info())["table"]
    found = str(table.get("brokerVersionDesc"))
    expect_that(
        "ADMIN-CONFIG-002",
        re.fullmatch(r"V\d+_\d+_\d+(_[A-Z]+)?", found) is not None,
        found=found,
        expected="a name of MQVersion.Version such as V4_6_0",
        what="brokerVersionDesc",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CONFIG-003", "ADMIN-CONFIG-005")
def test_no_number_is_no_change_of_a_number(broker: Client) -> None:
    before = broker.broker_config()
    settings = broker.broker_settings()
    need_reported(["defaultQueryMaxNum"], settings)
    number = settings["defaultQueryMaxNum"]
    require_success(broker.update_broker_config({"defaultQueryMaxNum": "many"}))
    after = broker.broker_config()
    found = broker.broker_settings()["defaultQueryMaxNum"]
    what = "defaultQueryMaxNum after many"
    expect(
        "ADMIN-CONFIG-003",
        found=found,
        expected=number,
        what=what,
        transcript=broker.transcript,
    )
    expect_that(
        "ADMIN-CONFIG-005",
        settings_version(after) > settings_version(before),
        found=settings_version(after),
        expected=f"more than {settings_version(before)}",
        what="counter of the version",
        transcript=broker.transcript,
    )


def settings_version(response: Command) -> int:
    """Return the counter of the settings' version."""
    version = loads(require_success(response).fields["version"])
    assert isinstance(version, Mapping)
    return int(version["counter"])


@pytest.mark.clause("ADMIN-CONFIG-004")
def test_a_young_log_has_no_earliest_time(broker: Client, topic: str) -> None:
    require_success(broker.send_message(topic=topic))
    settings = broker.broker_settings()
    need_reported(["maxMessageSize"], settings)
    table = mapping_of(broker.broker_runtime_info())["table"]
    held = int(table["commitLogMaxOffset"]) - int(table["commitLogMinOffset"])
    is_young = held < 2 * int(settings["maxMessageSize"])
    found = int(table["earliestMessageTimeStamp"])
    expect_that(
        "ADMIN-CONFIG-004",
        (found == -1) == is_young,
        found=found,
        expected="-1" if is_young else "a time",
        what=f"earliestMessageTimeStamp of a log of {held} bytes",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CONFIG-006")
def test_a_log_has_an_earliest_time(broker: Client, topic: str) -> None:
    stored_ms = record_of(broker, broker.send_message(topic=topic)).stored_at_ms
    table = mapping_of(broker.broker_runtime_info())["table"]
    found = int(table["earliestMessageTimeStamp"])
    expect_that(
        "ADMIN-CONFIG-006",
        0 < found <= stored_ms,
        found=found,
        expected=f"{stored_ms}, the last message's store time, or earlier",
        what="earliestMessageTimeStamp",
        transcript=broker.transcript,
    )
