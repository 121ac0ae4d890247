"""
A program on the Python client ``rocketmq`` 0.4, which is the C++ client underneath.

    python cpp_client.py NAMESRV TOPIC COUNT SECONDS

It sends in every way that the client has. Then it consumes until it has COUNT messages
or SECONDS have passed. It prints a line of JSON for each event. Messages of a batch,
ordered ones, a large one and those for a filter have topics of their own. The names of
these topics are TOPIC and a word.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Sized
from typing import Any

from rocketmq.client import (
    Message,
    Producer,
    PullConsumer,
    PushConsumer,
)

LARGE = 3_000_000
RANDOM = hashlib.shake_128(b"large").hexdigest(2_000_000)
"""Four million characters, of which not even half can be compressed away."""
REFUSED_ONCE = "sync 0"
PATIENCE_S = 20
_lock = threading.Lock()


def report(**what: object) -> None:
    """Print what happened."""
    with _lock:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()


def message(topic: str, body: str, tag: str = "A") -> Any:
    """Return a message with a key, a tag and a property."""
    made = Message(topic)
    made.set_keys("k")
    made.set_tags(tag)
    made.set_property("own", "value")
    made.set_body(body)
    return made


def produce(namesrv: str, topic: str) -> None:
    """Send in every way."""
    producer = Producer("cpp_producer", max_message_size=len(RANDOM) + 1)
    producer.set_namesrv_addr(namesrv)
    producer.start()
    for number in range(4):
        sent = producer.send_sync(message(topic, f"sync {number}", "AB"[number % 2]))
        report(did="sync", status=sent.status.name)
    producer.send_oneway(message(topic, "oneway"))
    answered = threading.Event()

    def require_success(sent: Any) -> None:
        report(did="async", status=sent.status.name)
        answered.set()

    def failed(error: Exception) -> None:
        report(did="async", error=str(error))
        answered.set()

    producer.send_async(message(topic, "async"), require_success, failed)
    answered.wait(10)
    offsets = [
        producer.send_orderly(message(topic, f"ordered {n}"), 1).offset
        for n in range(3)
    ]
    report(did="ordered", in_a_row=[offset - offsets[0] for offset in offsets])
    delayed = message(topic, "delayed")
    delayed.set_delay_time_level(1)
    report(did="delayed", status=producer.send_sync(delayed).status.name)
    large = producer.send_sync(message(topic, "x" * LARGE))
    report(did="large", status=large.status.name)
    produce_more(producer, topic)
    producer.shutdown()


def produce_more(producer: Any, topic: str) -> None:
    """Send what has a topic of its own."""
    random = producer.send_sync(message(f"{topic}_random", RANDOM))
    report(did="random", status=random.status.name)
    batch = [message(f"{topic}_batch", f"batch {n}") for n in range(3)]
    report(did="batch", status=producer.send_batch(batch).status.name)
    for number in range(10):
        producer.send_orderly(message(f"{topic}_ordered", str(number)), number % 2)
    for number, tag in enumerate("ABCDBA"):
        line = message(f"{topic}_tags", f"{number} {tag}", tag)
        producer.send_orderly(line, 0)


def consume(namesrv: str, topic: str, count: int, seconds: float) -> None:
    """Consume; the first time, refuse one message."""
    done: set[str] = set()
    refused: list[str] = []

    def take(got: Any) -> None:
        body = got.body.decode()
        if body == REFUSED_ONCE and not refused:
            refused.append(body)
            raise ValueError("not this time")
        done.add(body)
        report(
            got=body[:20],
            size=len(body),
            tags=got.tags.decode(),
            keys=got.keys.decode(),
            own=got.get_property("own").decode(),
        )

    consumer = PushConsumer("cpp_group")
    consumer.set_namesrv_addr(namesrv)
    consumer.subscribe(topic, take)
    consumer.start()
    wait_for(count, done, seconds)
    consumer.shutdown()


def wait_for(count: int, got: Sized, seconds: float) -> None:
    """Wait until so much has come, or the time is over."""
    deadline = time.monotonic() + seconds
    while len(got) < count and time.monotonic() < deadline:
        time.sleep(0.05)


def shown(body: bytes) -> str:
    """Return a body, or of a long one its digest."""
    return hashlib.sha256(body).hexdigest() if len(body) > LARGE else body.decode()


def listen(namesrv: str, topic: str, did: str, count: int, **how: Any) -> None:
    """Consume a topic of COUNT messages in one of the other ways."""
    got: list[list[object]] = []
    expression = how.pop("expression", "*")

    def take(message: Any) -> None:
        with _lock:
            got.append([message.queue_id, shown(message.body)])

    consumer = PushConsumer(f"cpp_{did}", **how)
    consumer.set_namesrv_addr(namesrv)
    consumer.set_instance_name(f"cpp_{did}")
    consumer.subscribe(f"{topic}_{did}", take, expression)
    consumer.start()
    wait_for(count, got, PATIENCE_S)
    consumer.shutdown()
    report(did=did, got_all=got)


def pull(namesrv: str, topic: str) -> None:
    """Count the messages that a pulling consumer finds."""
    consumer = PullConsumer("cpp_puller")
    consumer.set_namesrv_addr(namesrv)
    consumer.start()
    report(did="pull", count=sum(1 for _ in consumer.pull(topic)))
    consumer.shutdown()


if __name__ == "__main__":
    _namesrv, _topic, _count, _seconds = sys.argv[1:]
    produce(_namesrv, _topic)
    consume(_namesrv, _topic, int(_count), float(_seconds))
    pull(_namesrv, _topic)
    listen(_namesrv, _topic, "batch", 1)
    listen(_namesrv, _topic, "random", 1)
    listen(_namesrv, _topic, "ordered", 10, orderly=True)
    listen(_namesrv, _topic, "tags", 4, expression="A || B")
