"""
Features of clients that send: a small program for each, the same for every adapter.

A feature returns its outcome as plain JSON without times and ids, so that outcomes at
different servers compare equal.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable

from conformance.harness.client.client import require_success
from conformance.harness.targets.client_adapter import Line
from conformance.interop.programs.session import (
    ClientError,
    ClientSession,
    body_of,
    encoded,
    result_of,
    text_of,
    texts,
    whole,
)
from spec.store.message_record import Record, decode_records

LARGEST = 4 * 1024 * 1024
"""Greatest body in bytes, the default of maxMessageSize."""
ROOM = 4096
"""Bytes for the record's other fields, and for the overhead of compression."""
TEXT = "the same again and again " * 4000
LEVEL, LEVEL_MS = 4, 2000
REQUEST_TIMEOUT_MS = 20_000
STATES = {
    "commit": "COMMIT_MESSAGE",
    "rollback": "ROLLBACK_MESSAGE",
    "unknown": "UNKNOW",
}
"""LocalTransactionState by the protocol's word for it."""


def sync_send(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    sent = [session.send(producer, topic, f"sync {n}", **parts) for n in range(4)]
    received = whole(session.consume(topic, 4))
    return {"sent": [one["status"] for one in sent], "received": received}


def async_send(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    under_way = [
        session.adapter.call(
            "send",
            producer=producer,
            mode="async",
            message={"topic": topic, "body": encoded(f"async {n}")},
            lane=f"{n}",
        )
        for n in range(4)
    ]
    sent = [result_of(one.wait())["status"] for one in under_way]
    return {"sent": sent, "received": texts(session.consume(topic, 4))}


def oneway_send(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    for n in range(4):
        assert session.send(producer, topic, f"oneway {n}", mode="oneway") == {}
    return {"received": texts(session.consume(topic, 4))}


def batch_send(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    parts = {"topic": topic, "tags": "A", "properties": {"own": "v"}}
    batch = [{**parts, "body": encoded(f"batch {n}")} for n in range(3)]
    sent = session.call("send", producer=producer, mode="sync", messages=batch)
    got = session.consume(topic, 3)
    return {
        "sent": sent["status"],
        "ids": len(sent["message_id"].split(",")),
        "offset ids": len(sent["offset_message_id"].split(",")),
        "received": whole(got),
        "offsets": sorted(int(one["queue_offset"]) for one in got),
        "queues": len({one["queue_id"] for one in got}),
    }


def large_body(session: ClientSession) -> object:
    """Random bytes: they are no smaller when compressed."""
    topic, producer = session.topic(), session.producer()
    body = os.urandom(LARGEST - ROOM)
    sent = session.send(producer, topic, body)["status"]
    got = session.consume(topic, 1)
    too_large = os.urandom(LARGEST + 1)
    return {
        "sent": sent,
        "received": [body_of(one) == body for one in got],
        "a byte too many": attempt(
            lambda: str(session.send(producer, topic, too_large)["status"])
        ),
    }


def compressed_body(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    sent = session.send(producer, topic, TEXT)
    got = session.consume(topic, 1)
    stored = stored_at(session, topic, sent["queue_id"])
    return {
        "sent": sent["status"],
        "received": [body_of(one).decode() == TEXT for one in got],
        "stored smaller": [len(one.body) < len(TEXT) // 10 for one in stored],
    }


def ordered(session: ClientSession) -> object:
    topic, producer = session.topic(queue_count=2), session.producer()
    for n in range(10):
        session.send(producer, topic, f"{n // 2}", more={"select": n % 2})
    of_queues: dict[str, list[str]] = defaultdict(list)
    for one in session.consume(topic, 10, order="orderly"):
        of_queues[f"queue {one['queue_id']}"].append(text_of(one))
    return dict(sorted(of_queues.items()))


def delayed(session: ClientSession) -> object:
    topic, producer = session.topic(), session.producer()
    consumer = session.push_consumer(topic)
    begun = time.monotonic()
    sent = session.send(producer, topic, "delayed", delay_level=LEVEL)
    session.wait(lambda: bool(session.got(consumer)), "it has come")
    after_ms = (time.monotonic() - begun) * 1000
    got = session.got(consumer)
    return {
        "sent": sent["status"],
        "received": len(got),
        "not before its time": [after_ms >= LEVEL_MS for _ in got],
    }


def transaction(session: ClientSession) -> object:
    """Decide two in the local transaction, and two in a check of the broker."""
    topic = session.topic(queue_count=1)
    for_ever, never = (
        session.producer(check=decision) for decision in ("commit", "rollback")
    )

    def send(producer: str, body: str, decision: str) -> str:
        sent = session.send(producer, topic, body, more={"transaction": decision})
        return STATES[sent["state"]]

    states = [
        send(for_ever, "commit", "commit"),
        send(for_ever, "roll back", "rollback"),
        send(for_ever, "wait, then commit", "unknown"),
        send(never, "wait, then roll back", "unknown"),
    ]
    consumer = session.push_consumer(topic)

    def checked() -> set[str]:
        events = list(session.adapter.events)
        producers = {for_ever, never}
        return {
            text_of(one["message"])
            for one in events
            if one["event"] == "check" and one["producer"] in producers
        }

    def came() -> set[str]:
        return set(texts(session.got(consumer)))

    waiting = {"wait, then commit", "wait, then roll back"}
    session.wait(lambda: waiting <= checked(), "both are checked")
    session.wait(
        lambda: {"commit", "wait, then commit"} <= came(), "both are delivered"
    )
    # A message that was rolled back would have arrived before this one.
    send(for_ever, "commit last of all", "commit")
    session.wait(lambda: "commit last of all" in came(), "the last comes")
    return {
        "states": states,
        "checked": sorted(checked()),
        "received": sorted(came()),
    }


def request_reply(session: ClientSession) -> object:
    """One request after the other."""
    return _answered(session, "first") + _answered(session, "second")


def request_both(session: ClientSession) -> object:
    """Two concurrent requests, whose replies are given to a callback."""
    return sorted(_answered(session, "first", "second", mode="callback"))


def _answered(session: ClientSession, *bodies: str, mode: str = "sync") -> list[str]:
    """Return the replies to requests, made by a consumer of their topic."""
    topic, producer, replier = session.topic(), session.producer(), session.producer()
    consumer = session.push_consumer(topic)
    requests = [
        session.adapter.call(
            "request",
            producer=producer,
            mode=mode,
            message={"topic": topic, "body": encoded(body)},
            timeout_ms=REQUEST_TIMEOUT_MS,
            lane=body,
        )
        for body in bodies
    ]
    session.wait(
        lambda: len(session.got(consumer)) >= len(bodies), "all requests have come"
    )
    for one in session.got(consumer):
        words = encoded(f"{text_of(one)}, answered")
        session.call(
            "reply", producer=replier, properties=one["properties"], body=words
        )

    def reply_of(line: Line) -> str:
        return attempt(lambda: text_of(result_of(line)["reply"]))

    return [reply_of(one.wait()) for one in requests]


def attempt(act: Callable[[], str]) -> str:
    """Return the result of *act*, or the failure's Java class and its code."""
    try:
        return act()
    except ClientError as error:
        return str(error.failure)


def stored_at(session: ClientSession, topic: str, queue_id: int) -> list[Record]:
    """Return the records of a queue as they are stored."""
    with session.target.connect_to_broker() as broker:
        response = require_success(
            broker.pull(topic=topic, queue_id=queue_id, offset=0)
        )
    return list(decode_records(response.body))
