"""A restarted broker responds to a request as it did before its orderly stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import mapping_of, offset_of, record_of
from spec.store.message_record import SystemFlag
from spec.wire.remoting.command import Command

pytestmark = [pytest.mark.long, pytest.mark.needs("wire", "restart")]

RICH = {"KEYS": "one two", "TAGS": "blue", "own": "ä"}
CREATED_LATER = "RMQ_SYS_"
"""Begin of topics that a broker creates when it first uses them."""
OF_THE_PLACE = ("msgId", "queueOffset", "transactionId")
"""Fields of a response to a send that differ from message to message."""


def send_rich(broker: Client, topic: str, *, queue_id: int, number: int) -> Command:
    """Send a message whose fields all have values of their own."""
    return require_success(
        broker.send_message(
            topic=topic,
            queue_id=queue_id,
            body=b"message %d" % number,
            properties={**RICH, "UNIQ_KEY": f"7F00000100{number:022d}"},
            flag=10 + number,
            born_at_ms=1_600_000_000_000 + number,
            reconsume_times=number,
            system_flags=SystemFlag.COMPRESSED * (number % 2),
        )
    )


def contents(response: Command) -> tuple[object, ...]:
    """Return code, fields and body of a *response*: all that a client reads."""
    return response.code, dict(response.fields), response.body


def expect_same(
    target: Target, reads: Mapping[str, tuple[str, Callable[[Client], object]]]
) -> None:
    """Fail the clause of each of *reads* whose result differs after a restart."""
    with target.connect_to_broker() as broker:
        before = {name: read(broker) for name, (_, read) in reads.items()}
    target.restart()
    with target.connect_to_broker() as broker:
        for name, (clause, read) in reads.items():
            expect(
                clause,
                found=read(broker),
                expected=before[name],
                what=f"{name} after a restart",
                transcript=broker.transcript,
            )


@pytest.mark.clause(
    "PULL-FOUND-004", "QUERY-ID-001", "OFFSET-MAX-001", "OFFSET-MIN-001"
)
def test_messages_are_the_same_after_a_restart(start_target: TargetStarter) -> None:
    own = start_target()
    topic = create_topic(own, unique_name("same"))
    with own.connect_to_broker() as broker:
        sent = [
            send_rich(broker, topic, queue_id=number % 2, number=number)
            for number in range(6)
        ]
        for queue_id in (0, 1):
            broker.wait_for_max_offset(topic=topic, queue_id=queue_id, offset=3)

    def each_queue(invoke: Callable[..., Command], **more: int) -> list[object]:
        return [
            contents(invoke(topic=topic, queue_id=queue_id, **more))
            for queue_id in (0, 1, 2)
        ]

    expect_same(
        own,
        {
            "messages by their ids": (
                "QUERY-ID-001",
                lambda broker: [
                    contents(broker.view_message(commit_log_offset=offset_of(one)))
                    for one in sent
                ],
            ),
            "pulls": (
                "PULL-FOUND-004",
                lambda broker: [
                    each_queue(broker.pull, offset=offset) for offset in range(4)
                ],
            ),
            "max offsets": (
                "OFFSET-MAX-001",
                lambda broker: each_queue(broker.max_offset),
            ),
            "min offsets": (
                "OFFSET-MIN-001",
                lambda broker: each_queue(broker.min_offset),
            ),
        },
    )


@pytest.mark.clause("SEND-RESPONSE-002", "SEND-RESPONSE-003", "SEND-RESPONSE-005")
def test_sends_are_answered_alike_after_a_restart(start_target: TargetStarter) -> None:
    own = start_target()
    topic = create_topic(own, unique_name("same"))
    with own.connect_to_broker() as broker:
        before = [send_rich(broker, topic, queue_id=1, number=n) for n in range(2)]
    own.restart()
    with own.connect_to_broker() as broker:
        for number in range(2, 4):
            response = send_rich(broker, topic, queue_id=1, number=number)
            record = record_of(broker, response)
            expect(
                "SEND-RESPONSE-002",
                found=(record.body, record.queue_id, str(record.queue_offset)),
                expected=(b"message %d" % number, 1, response.fields["queueOffset"]),
                what="body, queue and offset of the record that msgId names",
                transcript=broker.transcript,
            )
            expect_fields(
                "SEND-RESPONSE-003",
                found=response.fields,
                expected={"queueOffset": str(number)},
                transcript=broker.transcript,
            )
            expect(
                "SEND-RESPONSE-005",
                found=lasting_fields(response),
                expected=lasting_fields(before[-1]),
                what="fields that are the same for each message",
                transcript=broker.transcript,
            )


def lasting_fields(response: Command) -> dict[str, str]:
    """Return the fields of a response that are not about its own message."""
    fields = response.fields.items()
    return {name: value for name, value in fields if name not in OF_THE_PLACE}


@pytest.mark.clause(
    "ADMIN-TOPIC-001", "ADMIN-GROUP-001", "ADMIN-STATS-003", "OFFSET-COMMIT-001"
)
def test_tables_are_the_same_after_a_restart(start_target: TargetStarter) -> None:
    own = start_target()
    topic = create_topic(own, unique_name("same"))
    group = create_group(own, unique_name("group"), retryMaxTimes=5)
    with own.connect_to_broker() as broker:
        send_rich(broker, topic, queue_id=0, number=0)
        broker.wait_for_max_offset(topic=topic, offset=1)
        require_success(broker.update_offset(group=group, topic=topic, offset=1))

    def row(response: Command, table: str, name: str) -> Any:
        return mapping_of(response)[table].get(name)

    def names(response: Command, table: str) -> list[str]:
        found = mapping_of(response)[table]
        return sorted(one for one in found if not one.upper().startswith(CREATED_LATER))

    expect_same(
        own,
        {
            "the topic": (
                "ADMIN-TOPIC-001",
                lambda broker: row(
                    broker.all_topic_config(), "topicConfigTable", topic
                ),
            ),
            "the names of all ordinary topics": (
                "ADMIN-TOPIC-001",
                lambda broker: names(broker.all_topic_config(), "topicConfigTable"),
            ),
            "the names of all groups": (
                "ADMIN-GROUP-001",
                lambda broker: names(broker.all_groups(), "subscriptionGroupTable"),
            ),
            "the group": (
                "ADMIN-GROUP-001",
                lambda broker: row(
                    broker.all_groups(), "subscriptionGroupTable", group
                ),
            ),
            "the table of offsets": (
                "ADMIN-STATS-003",
                lambda broker: row(
                    broker.all_consumer_offsets(), "offsetTable", f"{topic}@{group}"
                ),
            ),
            "the committed offset": (
                "OFFSET-COMMIT-001",
                lambda broker: contents(broker.query_offset(group=group, topic=topic)),
            ),
        },
    )


@pytest.mark.clause("ROUTE-CLUSTER-001")
def test_the_cluster_is_the_same_after_a_restart(start_target: TargetStarter) -> None:
    own = start_target()

    def cluster() -> tuple[object, object]:
        with own.connect_to_namesrv() as namesrv:
            info = mapping_of(namesrv.cluster_info())
        return (
            (info.get("brokerAddrTable") or {}).get(own.broker_name),
            sorted((info.get("clusterAddrTable") or {}).get(own.cluster, [])),
        )

    before = cluster()
    own.restart()
    expect(
        "ROUTE-CLUSTER-001",
        found=cluster(),
        expected=before,
        what="row of the broker, and the names in its cluster",
    )


@pytest.mark.clause("ADMIN-TOPIC-005", "ADMIN-GROUP-009")
def test_versions_of_tables_outlive_a_restart(start_target: TargetStarter) -> None:
    own = start_target()
    create_topic(own, unique_name("same"))
    create_group(own, unique_name("group"))
    topics, groups = versions_of(own)
    own.restart()
    later_topics, later_groups = versions_of(own)
    expect_that(
        "ADMIN-TOPIC-005",
        min(topics) >= 0
        and all(new >= old for new, old in zip(later_topics, topics, strict=True)),
        found=later_topics,
        expected=f"not less than {topics}",
        what="counter and time of the topics' version after a restart",
    )
    # Up to 4.9 at least, a broker writes the counter of groups and never reads it.
    expect_that(
        "ADMIN-GROUP-009",
        0 <= groups[1] <= later_groups[1],
        found=later_groups[1],
        expected=f"not less than {groups[1]}",
        what="time of the groups' version after a restart",
    )


def versions_of(target: Target) -> list[tuple[int, int]]:
    """Return counter and time of the versions of topics and groups; -1 if absent."""
    with target.connect_to_broker() as broker:
        responses = broker.all_topic_config(), broker.all_groups()
    versions = [mapping_of(one).get("dataVersion") or {} for one in responses]
    return [(one.get("counter", -1), one.get("timestamp", -1)) for one in versions]
