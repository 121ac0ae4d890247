"""
Features of clients that consume: a small program for each, the same for every adapter.

With a filter, all messages are in one queue and the last one passes: once it has
arrived, the others have been skipped. Queries of the broker, such as the search for
dead letters, are the suite's own requests.
"""

from __future__ import annotations

from conformance.harness.client.client import require_success
from conformance.harness.targets.client_adapter import Line
from conformance.interop.programs.session import ClientSession, text_of, texts, whole
from spec.store.message_record import Record, decode_records
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import ResetOffsetBody
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

POLL_MS = 1000
LONG_AGO_MS = 1_600_000_000_000
"""Before any of our messages: in 2020."""


def by_tag(session: ClientSession) -> object:
    topic, producer = session.topic(queue_count=1), session.producer()
    for n, tag in enumerate("ABCDBA"):
        session.send(producer, topic, f"{n} {tag}", tags=tag)
    return texts(session.consume(topic, 4, by={"expression": "A || B"}))


def by_sql(session: ClientSession) -> object:
    topic, producer = session.topic(queue_count=1), session.producer()
    for n in range(6):
        tag, properties = "AB"[n % 2], {"a": str(n)}
        session.send(producer, topic, f"{n}", tags=tag, properties=properties)
    right = "a BETWEEN 1 AND 5 AND TAGS = 'B' OR a IS NULL"
    return texts(session.consume(topic, 3, by={"expression": right, "type": "SQL92"}))


def broadcast(session: ClientSession) -> object:
    topic, producer, group = (
        session.topic(),
        session.producer(),
        session.name("broadcast"),
    )
    model = {"group": group, "model": "broadcasting"}
    each = [session.push_consumer(topic, **model) for _ in range(2)]
    for n in range(4):
        session.send(producer, topic, f"{n}")
    session.wait(
        lambda: all(len(session.got(one)) >= 4 for one in each), "each has all"
    )
    return [texts(session.got(one)) for one in each]


def rebalance(session: ClientSession) -> object:
    topic, producer, group = session.topic(), session.producer(), session.name("two")

    def have(*wanted: int) -> list[int]:
        session.wait(lambda: shares() == [*wanted], f"the queues are divided {wanted}")
        return shares()

    def shares() -> list[int]:
        return sorted(map(len, session.shares(group, topic)))

    first = session.push_consumer(topic, group=group)
    alone = have(4)
    second = session.push_consumer(topic, group=group)
    both = have(2, 2)
    for n in range(8):
        session.send(producer, topic, f"{n}", more={"select": n % 4})
    session.wait(lambda: len(session.got(first, second)) >= 8, "all have come")
    session.stop(first)
    return {
        "alone": alone,
        "both": both,
        "received": sorted(set(texts(session.got(first, second)))),
        "one left": have(4),
    }


def retry(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    session.send(producer, topic, "refused once", **parts)
    got = session.consume(
        topic, 2, by={"expression": "A"}, outcomes={"k": ["later", "success"]}
    )
    return {
        "received": whole(got),
        "tries": [one["reconsume_times"] for one in got],
        "under its topic": [one["topic"] == topic for one in got],
    }


def dead_letters(session: ClientSession) -> object:
    topic, producer, group = (
        session.topic(),
        session.producer(),
        session.name("refusing"),
    )
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    session.send(producer, topic, "never wanted", **parts)
    consumer = session.push_consumer(
        topic,
        group=group,
        outcomes={"k": ["later"] * 9},
        options={"max_reconsume": 1},
    )
    found: list[Record] = []

    def buried() -> bool:
        with session.target.connect_to_broker() as broker:
            response = broker.query_message(topic=f"%DLQ%{group}", key="k")
        if response.code == ResponseCode.SUCCESS:
            found[:] = decode_records(response.body)
        return bool(found)

    session.wait(buried, "it is among the dead letters")
    properties = [decode_properties(one.properties) for one in found]
    return {
        "tries": [one["reconsume_times"] for one in session.got(consumer)],
        "dead": [
            [one.body.decode(), *(had.get(name) for name in ("TAGS", "KEYS", "own"))]
            for one, had in zip(found, properties, strict=True)
        ],
        "of its topic": [had["RETRY_TOPIC"] == topic for had in properties],
    }


def pull(session: ClientSession) -> object:
    topic, producer, group = (
        session.topic(queue_count=1),
        session.producer(),
        session.name("p"),
    )
    for n in range(6):
        session.send(producer, topic, f"{n}", tags="AB"[n % 2])
    name = session.pull_consumer(group)
    queues = session.call("queues", consumer=name, topic=topic)["queues"]
    where = {"consumer": name, "queue": queues[0]}

    def offset(which: str, **more: object) -> int:
        return int(session.call("offset", **where, which=which, **more)["offset"])

    def found(at: int, count: int = 32, by: str = "*") -> Line:
        given = {"expression": by, "offset": str(at), "count": count}
        return session.call("pull", **where, **given)

    session.wait(lambda: offset("max") == 6, "all are in the queue")
    first = found(0, 4)
    session.call("commit", **where, offset="4")
    elsewhere = {
        **where,
        "consumer": session.pull_consumer(group),
        "which": "committed",
    }
    return {
        "queues": len(queues),
        "pulled": [first["status"], *map(text_of, first["messages"])],
        "next": int(first["next_offset"]),
        "by tag": [*map(text_of, found(0, by="B")["messages"])],
        "at the end": found(6)["status"],
        "behind the end": found(60)["status"],
        "ends": [offset("min"), offset("max")],
        "first by time": offset("search", time_ms=str(LONG_AGO_MS)),
        "committed": int(session.call("offset", **elsewhere)["offset"]),
    }


def lite_pull(session: ClientSession) -> object:
    """One consumer subscribes; another is assigned a queue, and seeks in it."""
    topic, producer, group = (
        session.topic(queue_count=2),
        session.producer(),
        session.name("l"),
    )
    for n in range(6):
        session.send(producer, topic, f"{n}", more={"select": n % 2})
    teller = session.pull_consumer(group)
    queues = session.call("queues", consumer=teller, topic=topic)["queues"]
    queues.sort(key=lambda queue: queue["queue_id"])  # Java's client returns a set
    for queue in queues:  # without a commit, the broker chooses the first offset
        session.call("commit", consumer=teller, queue=queue, offset="0")
    session.stop(teller)
    subscriber = session.lite_consumer(topic, group=group)
    subscribed = _polled(session, subscriber, 6)
    session.stop(subscriber)

    options = {"auto_commit": False}
    seeker = session.lite_consumer(group=session.name("seekers"), options=options)
    session.call("assign", consumer=seeker, queues=[queues[1]])
    session.call("seek", consumer=seeker, queue=queues[1], offset="1")
    return {"subscribed": subscribed, "sought": _polled(session, seeker, 2)}


def _polled(session: ClientSession, consumer: str, count: int) -> list[str]:
    """Return the bodies of the messages that are polled: *count*, or those in time."""
    got: list[Line] = []

    def poll() -> bool:
        polled = session.call("poll", consumer=consumer, timeout_ms=POLL_MS)
        got.extend(polled["messages"])
        return len(got) >= count

    session.wait(poll, f"{count} messages are polled")
    return texts(got)


def by_offset(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    session.send(producer, topic, "another", keys="other")
    parts: Line = {"tags": "A", "keys": "one two", "properties": {"own": "v"}}
    sent = session.send(producer, topic, "wanted", **parts)
    queue = {name: sent[name] for name in ("topic", "broker", "queue_id")}
    where = {"consumer": session.pull_consumer(), "queue": queue}
    place = int(sent["queue_offset"])

    def is_there() -> bool:
        return int(session.call("offset", **where, which="max")["offset"]) > place

    session.wait(is_there, "it is in its queue")
    given = {"expression": "*", "offset": str(place), "count": 1}
    return whole(session.call("pull", **where, **given)["messages"])


def reset_offset(session: ClientSession) -> object:
    topic, producer, group = (
        session.topic(queue_count=2),
        session.producer(),
        session.name("r"),
    )
    for n in range(4):
        session.send(producer, topic, f"{n}", more={"select": n % 2})
    consumer = session.push_consumer(topic, group=group)
    session.wait(lambda: len(session.got(consumer)) >= 4, "all have come")
    session.wait(
        lambda: session.committed(group, topic, 2) == [2, 2], "all is committed"
    )
    first = session.got(consumer)
    with session.target.connect_to_broker() as broker:
        response = broker.reset_offset(
            group=group, topic=topic, timestamp_ms=LONG_AGO_MS
        )
    table = decode_body(ResetOffsetBody, require_success(response).body).offsets
    session.wait(lambda: len(session.got(consumer)) >= 8, "all have come again")
    return {
        "received": texts(first),
        "set back to": sorted(table.values()),
        "again": sorted(set(texts(session.got(consumer)[len(first) :]))),
    }
