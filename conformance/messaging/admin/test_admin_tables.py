"""Tables for tools: system topics, a group's offsets, a queue's units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.stored_messages import mapping_of, send_bodies
from spec.wire.remoting.request_code import RequestCode

OF_ANY_BROKER = ("TBW102", "SELF_TEST_TOPIC", "BenchmarkTest", "OFFSET_MOVED_EVENT")
"""System topics of each broker that may create topics, in all releases."""


def mapping_from(broker: Client, code: RequestCode, **fields: str) -> Mapping[str, Any]:
    """Return the JSON object in the response to a request."""
    return mapping_of(broker.invoke(code, fields))


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("ADMIN-TOPIC-006")
def test_system_topics_are_the_brokers_own(
    broker: Client, target: SharedTarget, topic: str
) -> None:
    code = RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER
    listed = mapping_from(broker, code)["topicList"]
    found = set(listed)
    expect(
        "ADMIN-TOPIC-006",
        found=sorted(listed),
        expected=sorted(found),
        what="names of system topics, each once",
        transcript=broker.transcript,
    )
    wanted = {*OF_ANY_BROKER, target.cluster, target.broker_name}
    expect_that(
        "ADMIN-TOPIC-006",
        wanted <= found and topic not in found,
        found=found,
        expected=f"{wanted} among others, and not {topic}",
        what="system topics",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-CLONE-001", "OFFSET-CLONE-003")
def test_a_group_may_be_as_far_as_another(
    broker: Client, topic: str, group: str, unique: Callable[[str], str]
) -> None:
    copy = unique("group")
    require_success(broker.update_group(group=group))  # else 5.x takes no offsets of it
    for queue_id, offset in ((0, 1), (2, 2)):
        bodies = [b"a"] * offset
        send_bodies(broker, topic, bodies, queue_id=queue_id)
        require_success(
            broker.update_offset(
                group=group, topic=topic, queue_id=queue_id, offset=offset
            )
        )
    other = [subscription_data(topic=unique("other"))]
    consumer = consumer_data(group=group, subscriptions=other)
    require_success(broker.heartbeat(client_id=f"{group}@1", consumers=[consumer]))

    def clone(offline: str) -> None:
        fields = {"srcGroup": group, "destGroup": copy, "topic": topic}
        fields["offline"] = offline
        require_success(broker.invoke(RequestCode.CLONE_GROUP_OFFSET, fields))

    def copied() -> Mapping[str, int] | None:
        table = mapping_from(broker, RequestCode.GET_ALL_CONSUMER_OFFSET)
        found: Mapping[str, int] | None = table["offsetTable"].get(f"{topic}@{copy}")
        return found

    clone("false")
    expect(
        "OFFSET-CLONE-003",
        found=copied(),
        expected=None,
        what="offsets of the copy, as a member subscribes to another topic only",
        transcript=broker.transcript,
    )
    clone("true")
    require_success(
        broker.update_offset(group=group, topic=topic, queue_id=2, offset=1)
    )
    offsets = copied()
    expect(
        "OFFSET-CLONE-001",
        # The form of the keys is the subject of WIRE-FASTJSON-001.
        found=offsets and {int(queue): offset for queue, offset in offsets.items()},
        expected={0: 1, 2: 2},
        what="offsets of the copy, though the other has gone back since",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-CLONE-002")
def test_without_a_topic_nothing_is_copied(
    broker: Client, topic: str, group: str, unique: Callable[[str], str]
) -> None:
    copy = unique("group")
    require_success(broker.update_group(group=group))  # else 5.x takes no offsets of it
    send_bodies(broker, topic, [b"a"])
    require_success(broker.update_offset(group=group, topic=topic, offset=1))
    fields = {"srcGroup": group, "destGroup": copy, "offline": "true"}
    require_success(broker.invoke(RequestCode.CLONE_GROUP_OFFSET, fields))
    table = mapping_from(broker, RequestCode.GET_ALL_CONSUMER_OFFSET)["offsetTable"]
    expect(
        "OFFSET-CLONE-002",
        found=table.get(f"{topic}@{copy}"),
        expected=None,
        what="offsets of the copy",
        transcript=broker.transcript,
    )


def queue_of(broker: Client, topic: str) -> Mapping[str, Any]:
    """Return the broker's description of a topic's queue 0."""
    fields = {"topic": topic, "queueId": "0", "index": "0", "count": "2"}
    return mapping_from(broker, RequestCode.QUERY_CONSUME_QUEUE, **fields)


@pytest.mark.clause("QUERY-QUEUE-001")
def test_a_queue_looks_empty(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    found = queue_of(broker, topic)
    expect(
        "QUERY-QUEUE-001",
        found=dict(found),
        expected={"maxQueueIndex": 0, "minQueueIndex": 0},
        what="the answer about a queue of three messages",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-QUEUE-002")
def test_a_queues_units_are_told(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    found = queue_of(broker, topic)
    expect(
        "QUERY-QUEUE-002",
        found=(found["minQueueIndex"], found["maxQueueIndex"], len(found["queueData"])),
        expected=(0, 3, 2),
        what="min, max and count of units of a queue of three messages",
        transcript=broker.transcript,
    )
