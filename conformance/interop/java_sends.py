"""
The features of the Java clients that are ways to send: each one a small program.

A feature returns what happened as plain JSON without times and ids, so that what one
server does can be compared with what another does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JJavaError

from conformance.interop.java_listeners import (
    Decider,
    Received,
    RequestListener,
    SendListener,
)
from conformance.interop.java_session import SEND_TIMEOUT_MS, JavaSession, keep_all

LARGEST = 4 * 1024 * 1024
"""What a body may have, as the documentation says."""
ROOM = 4096
"""For what the record has beside the body, and for what compressing it adds."""
TEXT = "the same again and again " * 4000
LEVEL, LEVEL_MS = 4, 2000
REQUEST_TIMEOUT_MS = 20_000


def attempt(act: Callable[[], Any]) -> str:
    """Return what *act* returns, or the kind of its failure and the code in it."""
    try:
        return str(act())
    except Py4JJavaError as error:
        return failure(error.java_exception)


def failure(error: Any) -> str:
    """Return the kind of a Java failure, and the response code if it has one."""
    kind = str(error.getClass().getSimpleName())
    if kind in {"MQBrokerException", "MQClientException"}:
        return f"{kind} {error.getResponseCode()}"
    return kind


def whole(got: list[Received]) -> list[list[str | None]]:
    """Return body, tag, keys and own property of each message, in order of bodies."""
    return sorted([one.text, one.tags, one.keys, one.own] for one in got)


def texts(got: list[Received]) -> list[str]:
    """Return the bodies, in order."""
    return sorted(one.text for one in got)


def sync_send(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    sent = [
        producer.send(java.message(topic, f"sync {n}", tags="A", keys="k", own="v"))
        for n in range(4)
    ]
    received = whole(java.consume(topic, 4))
    statuses = [str(one.getSendStatus()) for one in sent]
    return {"sent": statuses, "received": received}


def async_send(java: JavaSession) -> object:
    topic, producer, listener = java.topic(), java.producer(), SendListener()
    for n in range(4):
        producer.send(java.message(topic, f"async {n}"), listener)
    java.wait(lambda: len(listener.outcomes) == 4, "all are answered")
    return {"sent": listener.outcomes, "received": texts(java.consume(topic, 4))}


def oneway_send(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    for n in range(4):
        producer.sendOneway(java.message(topic, f"oneway {n}"))
    return {"received": texts(java.consume(topic, 4))}


def batch_send(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    batch = [java.message(topic, f"batch {n}", tags="A", own="v") for n in range(3)]
    sent = producer.send(java.messages(batch))
    got = java.consume(topic, 3)
    return {
        "sent": str(sent.getSendStatus()),
        "ids": len(str(sent.getMsgId()).split(",")),
        "offset ids": len(str(sent.getOffsetMsgId()).split(",")),
        "received": whole(got),
        "offsets": sorted(one.offset for one in got),
        "queues": len({one.queue for one in got}),
    }


def large_body(java: JavaSession) -> object:
    """Random bytes: they are no smaller when compressed."""
    topic, producer = java.topic(), java.producer()
    body = os.urandom(LARGEST - ROOM)
    sent = producer.send(java.message(topic, body)).getSendStatus()
    got = java.consume(topic, 1)
    too_large = java.message(topic, os.urandom(LARGEST + 1))
    return {
        "sent": str(sent),
        "received": [one.body == body for one in got],
        "a byte too many": attempt(lambda: producer.send(too_large).getSendStatus()),
    }


def compressed_body(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    sent = producer.send(java.message(topic, TEXT)).getSendStatus()
    got = java.consume(topic, 1)
    return {
        "sent": str(sent),
        "received": [one.body.decode() == TEXT for one in got],
        "stored smaller": [one.stored_size < len(TEXT) // 10 for one in got],
    }


def ordered(java: JavaSession) -> object:
    topic, producer = java.topic(queue_count=2), java.producer()
    for n in range(10):
        message = java.message(topic, f"{n // 2}")
        producer.send(message, java.queue(topic, n % 2))
    of_queues: dict[str, list[str]] = defaultdict(list)
    for one in java.consume(topic, 10, in_order=True):
        of_queues[f"queue {one.queue}"].append(one.text)
    return dict(sorted(of_queues.items()))


def delayed(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    message = java.message(topic, "delayed")
    message.setDelayTimeLevel(LEVEL)
    sent = producer.send(message)
    clock = java.gateway.jvm.java.lang.System
    stored: list[int] = []
    came: list[int] = []

    def take(message: Any) -> bool:
        stored.append(message.getStoreTimestamp() - message.getBornTimestamp())
        came.append(clock.currentTimeMillis() - message.getBornTimestamp())
        return True

    consumer = java.push_consumer()
    consumer.subscribe(topic, "*")
    java.listen(consumer, take)
    java.wait(lambda: bool(came), "it has come")
    return {
        "sent": str(sent.getSendStatus()),
        "received": len(came),
        "not before its time": [after >= LEVEL_MS for after in came],
    }


def transaction(java: JavaSession) -> object:
    """Let the last word be what the producer says when it is asked."""
    topic = java.topic(queue_count=1)
    producers = java.mq.client.producer
    decider = Decider(producers.LocalTransactionState)
    producer = producers.TransactionMQProducer(java.name("transactions"))
    producer.setTransactionListener(decider)
    java.producer(producer)

    def send(body: str) -> str:
        sent = producer.sendMessageInTransaction(java.message(topic, body), None)
        return str(sent.getLocalTransactionState())

    bodies = ("commit", "roll back", "wait, then commit", "wait, then roll back")
    states = [send(body) for body in bodies]
    got: list[Received] = []
    consumer = java.push_consumer()
    consumer.subscribe(topic, "*")
    java.listen(consumer, keep_all(got))
    waiting = {body for body in bodies if body.startswith("wait")}
    java.wait(lambda: waiting <= set(decider.asked), "both are asked about")
    delivered = {"commit", "wait, then commit"}
    java.wait(lambda: delivered <= {one.text for one in got}, "both are delivered")
    send("commit last of all")  # what was rolled back would have come before
    java.wait(lambda: any("last of all" in one.text for one in got), "the last comes")
    return {
        "states": states,
        "asked about": sorted(set(decider.asked)),
        "received": sorted({one.text for one in got}),
    }


def request_reply(java: JavaSession) -> object:
    topic, producer = _answered(java), java.producer()

    def ask(body: str) -> str:
        reply = producer.request(java.message(topic, body), REQUEST_TIMEOUT_MS)
        return bytes(reply.getBody()).decode()

    return [attempt(lambda: ask("first")), attempt(lambda: ask("second"))]


def request_callback(java: JavaSession) -> object:
    topic, producer, listener = _answered(java), java.producer(), RequestListener()
    for body in ("first", "second"):
        producer.request(java.message(topic, body), listener, REQUEST_TIMEOUT_MS)
    java.wait(lambda: len(listener.replies) == 2, "both are answered")
    return sorted(listener.replies)


def _answered(java: JavaSession) -> str:
    """Return a topic whose messages are requests that a consumer answers."""
    topic, replier = java.topic(), java.producer()
    replies = java.mq.client.utils.MessageUtil

    def answer(message: Any) -> bool:
        words = bytes(message.getBody()) + b", answered"
        reply = replies.createReplyMessage(message, words)
        replier.send(reply, SEND_TIMEOUT_MS)
        return True

    consumer = java.push_consumer()
    consumer.subscribe(topic, "*")
    java.listen(consumer, answer)
    return topic
