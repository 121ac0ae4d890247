"""
The questions of a handover: all that a client can see of a store, as plain values.

Answers are by question, then by item, so that two brokers' answers are compared item by
item. A record is shown as its queue offset and a digest of all its bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from conformance.harness.client.client import Client, body_of, require_success
from conformance.interop.handover.handover import (
    GROUP,
    TIMES,
    TOPICS,
    WHOLE,
    Written,
    queues,
)
from spec.routing.topic_config import decode_topic_table, topic_as_json
from spec.store.message_record import decode_record, decode_records, record_size
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

Items: TypeAlias = dict[str, object]
"""Result by item."""
Responses: TypeAlias = dict[str, Items]
"""Items by question."""

DIGITS = 10
TOPIC_SETTINGS = (
    "order",
    "perm",
    "readQueueNums",
    "writeQueueNums",
    "topicFilterType",
    "topicSysFlag",
)
"""Settings of a topic that exist in every release."""
GROUP_SETTINGS = (
    "brokerId",
    "consumeBroadcastEnable",
    "consumeEnable",
    "consumeFromMinEnable",
    "retryMaxTimes",
    "retryQueueNums",
    "whichBrokerWhenConsumeSlowly",
    "notifyConsumerIdsChangedEnable",
)


def observe(broker: Client, written: Written) -> Responses:
    """Query *broker* for everything that can be seen of the *written* content."""
    questions: dict[str, Callable[[Client, Written], Items]] = {
        "messages": messages,
        "queue ends": ends,
        "group offsets": group_offsets,
        "ids": by_id,
        "keys": by_key,
        "unique keys": by_unique_key,
        "times": times,
        "times in long queues": times_in_long_queues,
        "first store times": first_store_times,
        "topic settings": topic_settings,
        "group settings": group_settings,
    }
    if written.is_5:
        questions["whole batches"] = whole_batches
    return {name: one(broker, written) for name, one in questions.items()}


def messages(broker: Client, _written: Written) -> Items:
    """Return each queue's messages, pulled from its beginning to its end."""
    return {_name(*place): list(pulled(broker, *place)) for place in queues()}


def ends(broker: Client, _written: Written) -> Items:
    """Return the smallest offset and the end of each queue."""
    return {_name(*place): ends_of(broker, *place) for place in queues()}


def ends_of(broker: Client, topic: str, queue_id: int) -> list[int]:
    """Return the smallest offset and the end of a queue."""
    smallest = require_success(broker.min_offset(topic=topic, queue_id=queue_id))
    end = require_success(broker.max_offset(topic=topic, queue_id=queue_id))
    return [int(smallest.fields["offset"]), int(end.fields["offset"])]


def group_offsets(broker: Client, _written: Written) -> Items:
    """Return the group's committed offset of each queue."""
    return {
        _name(topic, queue_id): _field(
            broker.query_offset(group=GROUP, topic=topic, queue_id=queue_id)
        )
        for topic, queue_id in queues()
    }


def by_id(broker: Client, written: Written) -> Items:
    """Return the message of each id."""
    return {
        one.message_id: shown(broker.view_message_by_id(one.message_id))
        for one in written.sent
    }


def by_key(broker: Client, written: Written) -> Items:
    """Return the messages of each key."""
    return {one.key: _found(broker, one.topic, one.key) for one in written.sent}


def by_unique_key(broker: Client, written: Written) -> Items:
    """Return the messages of each unique key."""
    return {
        one.unique_key: _found(broker, one.topic, one.unique_key, unique=True)
        for one in written.sent
    }


def times(broker: Client, written: Written) -> Items:
    """Search a short queue by times before, at, between and after its messages."""
    found = {"before the first": written.times[0] - 1_000}
    for number, stored in enumerate(written.times):
        found[f"at {number}"] = stored
    for number, (one, other) in enumerate(
        zip(written.times, written.times[1:], strict=False)
    ):
        gap = other - one
        found[f"soon after {number}"] = one + gap // 4
        found[f"soon before {number + 1}"] = other - gap // 4
    found["after the last"] = written.times[-1] + 1_000_000
    return {
        name: _field(broker.search_offset(topic=TIMES, timestamp_ms=time))
        for name, time in found.items()
    }


def times_in_long_queues(broker: Client, _written: Written) -> Items:
    """Search queues of several files by the times of some of their messages."""
    found: Items = {}
    for topic, queue_id in queues():
        if topic not in TOPICS:
            continue
        stored = store_times(broker, topic, queue_id)
        for offset in range(3, len(stored), 10):
            # Among messages with the same time, any is a valid result.
            if stored.count(stored[offset]) == 1:
                response = broker.search_offset(
                    topic=topic, queue_id=queue_id, timestamp_ms=stored[offset]
                )
                found[f"{_name(topic, queue_id)} at {offset}"] = _field(response)
    return found


def first_store_times(broker: Client, _written: Written) -> Items:
    """Return when the oldest message of each queue was stored."""
    return {
        _name(topic, queue_id): _field(
            broker.earliest_store_time(topic=topic, queue_id=queue_id), "timestamp"
        )
        for topic, queue_id in queues()
    }


def topic_settings(broker: Client, _written: Written) -> Items:
    """Return the settings of our topics, those that every release has."""
    table = decode_topic_table(require_success(broker.all_topic_config()).body)
    ours = ("Handover", "%RETRY%", "%DLQ%")
    return {
        f"{name} {setting}": topic_as_json(topic)[setting]
        for name, topic in sorted(table.topics.items())
        if name.startswith(ours)
        for setting in TOPIC_SETTINGS
    }


def group_settings(broker: Client, _written: Written) -> Items:
    """Return the settings of our groups, those that every release has."""
    body = body_of(broker.all_groups())
    assert isinstance(body, Mapping)
    return {
        f"{name} {setting}": settings[setting]
        for name, settings in sorted(body["subscriptionGroupTable"].items())
        if name.startswith("handover")
        for setting in GROUP_SETTINGS
    }


def whole_batches(broker: Client, _written: Written) -> Items:
    """Return the content of a queue of whole batches."""
    return {
        "ends": ends_of(broker, WHOLE, 0),
        "messages": list(pulled(broker, WHOLE, 0)),
    }


def pulled(broker: Client, topic: str, queue_id: int) -> Iterator[str]:
    """Yield the messages of a queue from offset 0 to its end, as shown."""
    for response in pulls(broker, topic, queue_id):
        yield from shown(response)


def store_times(broker: Client, topic: str, queue_id: int) -> list[int]:
    """Return when each message of a queue was stored."""
    return [
        record.stored_at_ms
        for response in pulls(broker, topic, queue_id)
        for record in decode_records(response.body)
    ]


def pulls(broker: Client, topic: str, queue_id: int) -> Iterator[Command]:
    """Yield the responses to pulls from offset 0 on, also one that refuses."""
    for response in broker.pull_to_end(topic=topic, queue_id=queue_id, group=GROUP):
        if response.code != ResponseCode.PULL_NOT_FOUND:
            yield response


def rows(body: bytes) -> Iterator[str]:
    """Yield the records that a response's *body* consists of, as shown."""
    rest = memoryview(body)
    while rest:
        record = decode_record(rest)
        size = record_size(record)
        digest = hashlib.sha256(rest[:size]).hexdigest()[:DIGITS]
        yield f"{record.queue_offset}:{digest}"
        rest = rest[size:]


def shown(response: Command) -> list[str]:
    """Return the records of a response, or its code where it refuses."""
    if response.code != ResponseCode.SUCCESS:
        return [f"code {response.code}"]
    return list(rows(response.body))


def _found(broker: Client, topic: str, key: str, *, unique: bool = False) -> list[str]:
    return shown(broker.query_message(topic=topic, key=key, unique=unique))


def _name(topic: str, queue_id: int) -> str:
    return f"{topic}/{queue_id}"


def _field(response: Command, name: str = "offset") -> int | str:
    if response.code != ResponseCode.SUCCESS:
        return f"code {response.code}"
    return int(response.fields[name])


def check_complete(written: Written, responses: Responses) -> None:
    """Check that *responses* show each message that was sent, by every way."""
    for one in written.sent:
        queue = responses["messages"][f"{one.topic}/{one.queue_id}"]
        assert isinstance(queue, list)
        row = [queue[one.queue_offset]]
        assert row[0].startswith(f"{one.queue_offset}:")
        assert responses["ids"][one.message_id] == row, one
        assert responses["keys"][one.key] == row, one
        assert responses["unique keys"][one.unique_key] == row, one
