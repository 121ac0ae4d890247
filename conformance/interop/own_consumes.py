"""
The features of the reference's client that are ways to consume: each a small program.

They are the Java clients', by the same names, and the same is to happen. What a tool
does there, the suite's own requests do here.
"""

from __future__ import annotations

from conformance.harness.client_adapter import Line
from conformance.harness.speaker import succeeded
from conformance.interop.own_session import OwnSession, text_of, texts, whole
from spec.store.message_record import Record, decode_records
from spec.wire.json_body import decode_body
from spec.wire.offset_tables import ResetOffsets
from spec.wire.properties import decode_properties
from spec.wire.response_code import ResponseCode

POLL_MS = 1000
LONG_AGO_MS = 1_600_000_000_000
"""Before any of our messages: in 2020."""


def by_tag(own: OwnSession) -> object:
    topic, producer = own.topic(queue_count=1), own.producer()
    for n, tag in enumerate("ABCDBA"):
        own.send(producer, topic, f"{n} {tag}", tags=tag)
    return texts(own.consume(topic, 4, by={"expression": "A || B"}))


def by_sql(own: OwnSession) -> object:
    topic, producer = own.topic(queue_count=1), own.producer()
    for n in range(6):
        tag, properties = "AB"[n % 2], {"a": str(n)}
        own.send(producer, topic, f"{n}", tags=tag, properties=properties)
    right = "a BETWEEN 1 AND 5 AND TAGS = 'B' OR a IS NULL"
    return texts(own.consume(topic, 3, by={"expression": right, "type": "SQL92"}))


def broadcast(own: OwnSession) -> object:
    topic, producer, group = own.topic(), own.producer(), own.name("broadcast")
    model = {"group": group, "model": "broadcasting"}
    each = [own.push_consumer(topic, **model) for _ in range(2)]
    for n in range(4):
        own.send(producer, topic, f"{n}")
    own.wait(lambda: all(len(own.got(one)) >= 4 for one in each), "each has all")
    return [texts(own.got(one)) for one in each]


def rebalance(own: OwnSession) -> object:
    topic, producer, group = own.topic(), own.producer(), own.name("two")

    def have(*wanted: int) -> list[int]:
        own.wait(lambda: shares() == [*wanted], f"the queues are divided {wanted}")
        return shares()

    def shares() -> list[int]:
        return sorted(map(len, own.shares(group, topic)))

    first = own.push_consumer(topic, group=group)
    alone = have(4)
    second = own.push_consumer(topic, group=group)
    both = have(2, 2)
    for n in range(8):
        own.send(producer, topic, f"{n}", more={"select": n % 4})
    own.wait(lambda: len(own.got(first, second)) >= 8, "all have come")
    own.stop(first)
    return {
        "alone": alone,
        "both": both,
        "received": sorted(set(texts(own.got(first, second)))),
        "one left": have(4),
    }


def retry(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    own.send(producer, topic, "refused once", **parts)
    got = own.consume(
        topic, 2, by={"expression": "A"}, outcomes={"k": ["later", "success"]}
    )
    return {
        "received": whole(got),
        "tries": [one["reconsume_times"] for one in got],
        "under its topic": [one["topic"] == topic for one in got],
    }


def dead_letters(own: OwnSession) -> object:
    topic, producer, group = own.topic(), own.producer(), own.name("refusing")
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    own.send(producer, topic, "never wanted", **parts)
    consumer = own.push_consumer(
        topic,
        group=group,
        outcomes={"k": ["later"] * 9},
        options={"max_reconsume": 1},
    )
    found: list[Record] = []

    def buried() -> bool:
        with own.target.speak_to_broker() as broker:
            answer = broker.query_message(topic=f"%DLQ%{group}", key="k")
        if answer.code == ResponseCode.SUCCESS:
            found[:] = decode_records(answer.body)
        return bool(found)

    own.wait(buried, "it is among the dead letters")
    properties = [decode_properties(one.properties) for one in found]
    return {
        "tries": [one["reconsume_times"] for one in own.got(consumer)],
        "dead": [
            [one.body.decode(), *(had.get(name) for name in ("TAGS", "KEYS", "own"))]
            for one, had in zip(found, properties, strict=True)
        ],
        "of its topic": [had["RETRY_TOPIC"] == topic for had in properties],
    }


def pull(own: OwnSession) -> object:
    topic, producer, group = own.topic(queue_count=1), own.producer(), own.name("p")
    for n in range(6):
        own.send(producer, topic, f"{n}", tags="AB"[n % 2])
    name = own.pull_consumer(group)
    queues = own.ask("queues", consumer=name, topic=topic)["queues"]
    asked = {"consumer": name, "queue": queues[0]}

    def offset(which: str, **more: object) -> int:
        return int(own.ask("offset", **asked, which=which, **more)["offset"])

    def found(at: int, count: int = 32, by: str = "*") -> Line:
        given = {"expression": by, "offset": str(at), "count": count}
        return own.ask("pull", **asked, **given)

    own.wait(lambda: offset("max") == 6, "all are in the queue")
    first = found(0, 4)
    own.ask("commit", **asked, offset="4")
    asked_again = {**asked, "consumer": own.pull_consumer(group), "which": "committed"}
    return {
        "queues": len(queues),
        "pulled": [first["status"], *map(text_of, first["messages"])],
        "next": int(first["next_offset"]),
        "by tag": [*map(text_of, found(0, by="B")["messages"])],
        "at the end": found(6)["status"],
        "behind the end": found(60)["status"],
        "ends": [offset("min"), offset("max")],
        "first by time": offset("search", time_ms=str(LONG_AGO_MS)),
        "committed": int(own.ask("offset", **asked_again)["offset"]),
    }


def lite_pull(own: OwnSession) -> object:
    """One consumer subscribes; another takes a queue, and looks where it wants."""
    topic, producer, group = own.topic(queue_count=2), own.producer(), own.name("l")
    for n in range(6):
        own.send(producer, topic, f"{n}", more={"select": n % 2})
    teller = own.pull_consumer(group)
    queues = own.ask("queues", consumer=teller, topic=topic)["queues"]
    for queue in queues:  # where a group begins otherwise is the broker's choice
        own.ask("commit", consumer=teller, queue=queue, offset="0")
    own.stop(teller)
    subscriber = own.lite_consumer(topic, group=group)
    subscribed = _polled(own, subscriber, 6)
    own.stop(subscriber)

    options = {"auto_commit": False}
    seeker = own.lite_consumer(group=own.name("seekers"), options=options)
    own.ask("assign", consumer=seeker, queues=[queues[1]])
    own.ask("seek", consumer=seeker, queue=queues[1], offset="1")
    return {"subscribed": subscribed, "sought": _polled(own, seeker, 2)}


def _polled(own: OwnSession, consumer: str, count: int) -> list[str]:
    """Return the bodies of the messages that are polled: *count*, or those in time."""
    got: list[Line] = []

    def poll() -> bool:
        asked = own.ask("poll", consumer=consumer, timeout_ms=POLL_MS)
        got.extend(asked["messages"])
        return len(got) >= count

    own.wait(poll, f"{count} messages are polled")
    return texts(got)


def by_offset(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    own.send(producer, topic, "another", keys="other")
    parts: Line = {"tags": "A", "keys": "one two", "properties": {"own": "v"}}
    sent = own.send(producer, topic, "wanted", **parts)
    queue = {name: sent[name] for name in ("topic", "broker", "queue_id")}
    asked = {"consumer": own.pull_consumer(), "queue": queue}
    place = int(sent["queue_offset"])

    def is_there() -> bool:
        return int(own.ask("offset", **asked, which="max")["offset"]) > place

    own.wait(is_there, "it is in its queue")
    given = {"expression": "*", "offset": str(place), "count": 1}
    return whole(own.ask("pull", **asked, **given)["messages"])


def reset_offset(own: OwnSession) -> object:
    topic, producer, group = own.topic(queue_count=2), own.producer(), own.name("r")
    for n in range(4):
        own.send(producer, topic, f"{n}", more={"select": n % 2})
    consumer = own.push_consumer(topic, group=group)
    own.wait(lambda: len(own.got(consumer)) >= 4, "all have come")
    own.wait(lambda: own.committed(group, topic, 2) == [2, 2], "all is committed")
    first = own.got(consumer)
    with own.target.speak_to_broker() as broker:
        answer = broker.reset_offset(group=group, topic=topic, timestamp_ms=LONG_AGO_MS)
    table = decode_body(ResetOffsets, succeeded(answer).body).offsets
    own.wait(lambda: len(own.got(consumer)) >= 8, "all have come again")
    return {
        "received": texts(first),
        "set back to": sorted(table.values()),
        "again": sorted(set(texts(own.got(consumer)[len(first) :]))),
    }
