"""
A handover: one broker writes a store and ends, another opens it and serves the same.

`write` puts messages, several topics, queues, tags and keys of them, enough for the
commit log to roll over; `observe` asks a broker for all that a client could see of
them. What both brokers let us observe must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Target
from spec.store.message_record import Record, decode_record, record_size
from spec.wire.response_code import ResponseCode

TOPICS = {"HandoverOrders": 4, "HandoverBills": 1, "HandoverSingle-Message_1": 2}
"""Each topic and the count of its queues."""

GROUP = "handover_group"
MESSAGE_COUNT = 150
"""Bodies of about 700 bytes: the commit log and the index roll over."""

SETTINGS = {
    "mapedFileSizeCommitLog": str(64 * 1024),
    "mapedFileSizeConsumeQueue": str(20 * 20),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    # Nothing else may write between the two brokers.
    "autoCreateTopicEnable": "false",
    "maxMessageSize": str(32 * 1024),
}
"""Small files, the same for both: a broker ignores files of another size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One message that a broker has acknowledged."""

    topic: str
    queue_id: int
    body: bytes
    key: str
    unique_key: str
    message_id: str
    queue_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that a client can see of the messages of a store."""

    offsets: dict[tuple[str, int], tuple[int, int]]
    """Smallest offset and end of each queue."""
    messages: dict[tuple[str, int], list[Record]]
    """Each queue, pulled from its beginning to its end."""
    committed: dict[tuple[str, int], int]
    by_id: list[Record]
    by_key: dict[str, list[Record]]
    by_unique_key: dict[str, list[Record]]


def speak(target: Target) -> Speaker:
    """Return a speaker with a fresh connection to the target's broker."""
    assert target.broker is not None
    return Speaker.connect(target.broker)


def write(broker: Speaker) -> list[Sent]:
    """Create the topics, send all messages, commit offsets; return what was sent."""
    for topic, queue_count in TOPICS.items():
        succeeded(broker.create_topic(topic=topic, queue_count=queue_count))
    succeeded(broker.update_group(group=GROUP))
    sent = [send(broker, number) for number in range(MESSAGE_COUNT)]
    for topic, queue_id in queues():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=count_of(sent, topic, queue_id)
        )
        succeeded(
            broker.update_offset(
                group=GROUP, topic=topic, queue_id=queue_id, offset=queue_id + 3
            )
        )
    return sent


def send(broker: Speaker, number: int) -> Sent:
    """Send message *number*, whose topic, queue, tag and keys follow from it."""
    topics = list(TOPICS)
    topic = topics[number % len(topics)]
    queue_id = (number // len(topics)) % TOPICS[topic]
    key, unique_key = f"order-{number // 2}", f"7F000001{number:024X}"
    body = f"message {number} ".encode() * (number % 90)
    answer = broker.send_message(
        topic=topic,
        queue_id=queue_id,
        body=body or b"-",
        properties={
            "KEYS": f"{key} also-{number}",
            "UNIQ_KEY": unique_key,
            "WAIT": "true",
            "TAGS": f"Tag{number % 5}",
        },
    )
    fields = succeeded(answer).fields
    return Sent(
        topic=topic,
        queue_id=queue_id,
        body=body or b"-",
        key=f"also-{number}",
        unique_key=unique_key,
        message_id=fields["msgId"],
        queue_offset=int(fields["queueOffset"]),
    )


def observe(broker: Speaker, sent: list[Sent]) -> Observed:
    """Ask *broker* for everything that can be seen of the messages *sent*."""
    for topic, queue_id in queues():
        end = count_of(sent, topic, queue_id)
        broker.wait_for_max_offset(topic=topic, queue_id=queue_id, offset=end)
    return Observed(
        offsets={place: offsets_of(broker, *place) for place in queues()},
        messages={place: list(pull_all(broker, *place)) for place in queues()},
        committed={place: committed(broker, *place) for place in queues()},
        by_id=[
            next(records(succeeded(broker.view_message_by_id(one.message_id)).body))
            for one in sent
        ],
        by_key={one.key: found(broker, one.topic, one.key) for one in sent},
        by_unique_key={
            one.unique_key: found(broker, one.topic, one.unique_key, unique=True)
            for one in sent
        },
    )


def queues() -> list[tuple[str, int]]:
    """Return topic and id of every queue."""
    return [(topic, number) for topic, n in TOPICS.items() for number in range(n)]


def count_of(sent: list[Sent], topic: str, queue_id: int) -> int:
    """Return how many of *sent* went to one queue."""
    return sum(one.topic == topic and one.queue_id == queue_id for one in sent)


def offsets_of(broker: Speaker, topic: str, queue_id: int) -> tuple[int, int]:
    """Return the smallest offset and the end of a queue."""
    smallest = succeeded(broker.min_offset(topic=topic, queue_id=queue_id))
    end = succeeded(broker.max_offset(topic=topic, queue_id=queue_id))
    return int(smallest.fields["offset"]), int(end.fields["offset"])


def committed(broker: Speaker, topic: str, queue_id: int) -> int:
    """Return what the group has committed in a queue."""
    answer = broker.query_offset(group=GROUP, topic=topic, queue_id=queue_id)
    return int(answer.fields.get("offset", -1))


def pull_all(broker: Speaker, topic: str, queue_id: int) -> Iterator[Record]:
    """Yield the messages of a queue from offset 0 to its end."""
    offset = 0
    while True:
        answer = broker.pull(topic=topic, queue_id=queue_id, offset=offset, group=GROUP)
        if answer.code != ResponseCode.SUCCESS:
            assert answer.code == ResponseCode.PULL_NOT_FOUND, answer
            return
        yield from records(answer.body)
        offset = int(answer.fields["nextBeginOffset"])


def found(
    broker: Speaker, topic: str, key: str, *, unique: bool = False
) -> list[Record]:
    """Return what the index finds for *key*."""
    answer = broker.query_message(topic=topic, key=key, unique=unique)
    return list(records(succeeded(answer).body))


def records(body: bytes) -> Iterator[Record]:
    """Yield the records that an answer's *body* consists of."""
    rest = memoryview(body)
    while rest:
        record = decode_record(rest)
        yield record
        rest = rest[record_size(record) :]
