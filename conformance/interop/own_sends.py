"""
The features of the reference's client that are ways to send: each a small program.

They are the Java clients', by the same names, and the same is to happen.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable

from conformance.harness.client_adapter import Line
from conformance.harness.speaker import succeeded
from conformance.interop.java_sends import (
    LARGEST,
    LEVEL,
    LEVEL_MS,
    REQUEST_TIMEOUT_MS,
    ROOM,
    TEXT,
)
from conformance.interop.own_session import (
    OwnSession,
    RefusedError,
    body_of,
    encoded,
    result_of,
    text_of,
    texts,
    whole,
)
from spec.store.message_record import Record, decode_records

STATES = {
    "commit": "COMMIT_MESSAGE",
    "rollback": "ROLLBACK_MESSAGE",
    "unknown": "UNKNOW",
}
"""What a transaction's state is called here, and in Java."""


def sync_send(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    parts: Line = {"tags": "A", "keys": "k", "properties": {"own": "v"}}
    sent = [own.send(producer, topic, f"sync {n}", **parts) for n in range(4)]
    received = whole(own.consume(topic, 4))
    return {"sent": [one["status"] for one in sent], "received": received}


def async_send(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    under_way = [
        own.adapter.ask(
            "send",
            producer=producer,
            mode="async",
            message={"topic": topic, "body": encoded(f"async {n}")},
            lane=f"{n}",
        )
        for n in range(4)
    ]
    sent = [result_of(one.wait())["status"] for one in under_way]
    return {"sent": sent, "received": texts(own.consume(topic, 4))}


def oneway_send(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    for n in range(4):
        assert own.send(producer, topic, f"oneway {n}", mode="oneway") == {}
    return {"received": texts(own.consume(topic, 4))}


def batch_send(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    parts = {"topic": topic, "tags": "A", "properties": {"own": "v"}}
    batch = [{**parts, "body": encoded(f"batch {n}")} for n in range(3)]
    sent = own.ask("send", producer=producer, mode="sync", messages=batch)
    got = own.consume(topic, 3)
    return {
        "sent": sent["status"],
        "ids": len(sent["message_id"].split(",")),
        "offset ids": len(sent["offset_message_id"].split(",")),
        "received": whole(got),
        "offsets": sorted(int(one["queue_offset"]) for one in got),
        "queues": len({one["queue_id"] for one in got}),
    }


def large_body(own: OwnSession) -> object:
    """Random bytes: they are no smaller when compressed."""
    topic, producer = own.topic(), own.producer()
    body = os.urandom(LARGEST - ROOM)
    sent = own.send(producer, topic, body)["status"]
    got = own.consume(topic, 1)
    too_large = os.urandom(LARGEST + 1)
    return {
        "sent": sent,
        "received": [body_of(one) == body for one in got],
        "a byte too many": attempt(
            lambda: str(own.send(producer, topic, too_large)["status"])
        ),
    }


def compressed_body(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    sent = own.send(producer, topic, TEXT)
    got = own.consume(topic, 1)
    stored = stored_at(own, topic, sent["queue_id"])
    return {
        "sent": sent["status"],
        "received": [body_of(one).decode() == TEXT for one in got],
        "stored smaller": [len(one.body) < len(TEXT) // 10 for one in stored],
    }


def ordered(own: OwnSession) -> object:
    topic, producer = own.topic(queue_count=2), own.producer()
    for n in range(10):
        own.send(producer, topic, f"{n // 2}", more={"select": n % 2})
    of_queues: dict[str, list[str]] = defaultdict(list)
    for one in own.consume(topic, 10, order="orderly"):
        of_queues[f"queue {one['queue_id']}"].append(text_of(one))
    return dict(sorted(of_queues.items()))


def delayed(own: OwnSession) -> object:
    topic, producer = own.topic(), own.producer()
    consumer = own.push_consumer(topic)
    begun = time.monotonic()
    sent = own.send(producer, topic, "delayed", delay_level=LEVEL)
    own.wait(lambda: bool(own.got(consumer)), "it has come")
    after_ms = (time.monotonic() - begun) * 1000
    got = own.got(consumer)
    return {
        "sent": sent["status"],
        "received": len(got),
        "not before its time": [after_ms >= LEVEL_MS for _ in got],
    }


def transaction(own: OwnSession) -> object:
    """Let the last word be what the producer says when it is asked."""
    topic = own.topic(queue_count=1)
    for_ever, never = (
        own.producer(check=decision) for decision in ("commit", "rollback")
    )

    def send(producer: str, body: str, decision: str) -> str:
        sent = own.send(producer, topic, body, more={"transaction": decision})
        return STATES[sent["state"]]

    states = [
        send(for_ever, "commit", "commit"),
        send(for_ever, "roll back", "rollback"),
        send(for_ever, "wait, then commit", "unknown"),
        send(never, "wait, then roll back", "unknown"),
    ]
    consumer = own.push_consumer(topic)

    def asked() -> set[str]:
        events = list(own.adapter.events)
        asked_by = {for_ever, never}
        return {
            text_of(one["message"])
            for one in events
            if one["event"] == "check" and one["producer"] in asked_by
        }

    def came() -> set[str]:
        return set(texts(own.got(consumer)))

    waiting = {"wait, then commit", "wait, then roll back"}
    own.wait(lambda: waiting <= asked(), "both are asked about")
    own.wait(lambda: {"commit", "wait, then commit"} <= came(), "both are delivered")
    # What was rolled back would have come before.
    send(for_ever, "commit last of all", "commit")
    own.wait(lambda: "commit last of all" in came(), "the last comes")
    return {
        "states": states,
        "asked about": sorted(asked()),
        "received": sorted(came()),
    }


def request_reply(own: OwnSession) -> object:
    """One request after the other."""
    return _answered(own, "first") + _answered(own, "second")


def request_both(own: OwnSession) -> object:
    """Both requests wait at the same time; whoever asks goes on meanwhile."""
    return sorted(_answered(own, "first", "second"))


def _answered(own: OwnSession, *bodies: str) -> list[str]:
    """Return the replies to requests, which a consumer of their topic makes."""
    topic, producer, replier = own.topic(), own.producer(), own.producer()
    consumer = own.push_consumer(topic)
    asked = [
        own.adapter.ask(
            "request",
            producer=producer,
            message={"topic": topic, "body": encoded(body)},
            timeout_ms=REQUEST_TIMEOUT_MS,
            lane=body,
        )
        for body in bodies
    ]
    own.wait(lambda: len(own.got(consumer)) >= len(bodies), "all requests have come")
    for one in own.got(consumer):
        words = encoded(f"{text_of(one)}, answered")
        own.ask("reply", producer=replier, properties=one["properties"], body=words)
    replies = [result_of(one.wait())["reply"] for one in asked]
    return [text_of(reply) for reply in replies]


def attempt(act: Callable[[], str]) -> str:
    """Return what *act* returns, or what the failure is called in Java."""
    try:
        return act()
    except RefusedError as error:
        kind = {"client": "MQClientException", "broker": "MQBrokerException"}
        return f"{kind.get(error.kind, error.kind)} {error.code}"


def stored_at(own: OwnSession, topic: str, queue_id: int) -> list[Record]:
    """Return the records of a queue as they are stored."""
    with own.target.speak_to_broker() as broker:
        answer = succeeded(broker.pull(topic=topic, queue_id=queue_id, offset=0))
    return list(decode_records(answer.body))
