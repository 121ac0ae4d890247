"""
Producers that send until the broker is gone, and what it had acknowledged by then.

Each has a connection and a thread of its own and waits for every response. At the
moment of a kill each has at most one request under way, with unknown outcome. All else
was acknowledged: it must survive.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, batch_body
from conformance.harness.client.peer_errors import PeerError, PeerMisbehavedError
from conformance.harness.process.deadline import wait_until
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import Property
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

PRODUCERS = 4
BODY_SIZES = (0, 1, 50, 300, 1000, 3000)
BATCH_SIZES = (1, 2, 5, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """One message with response SUCCESS, and the offsets in that response."""

    topic: str
    queue_id: int
    queue_offset: int
    message_id: str
    key: str
    """No other message has it."""
    body: bytes

    @property
    def commit_log_offset(self) -> int:
        """Commit-log offset of its record, from the response."""
        return decode_message_id(self.message_id)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message that is about to be sent."""

    topic: str
    queue_id: int
    key: str
    body: bytes


Send = Callable[[Client, Sequence[Draft]], list[Acknowledged]]
"""Sends messages and returns those that were acknowledged."""


def send_one(client: Client, drafts: Sequence[Draft]) -> list[Acknowledged]:
    """Send the first of *drafts*, with a key and a unique key."""
    draft = drafts[0]
    response = client.send_message(
        topic=draft.topic,
        queue_id=draft.queue_id,
        body=draft.body,
        properties={Property.KEYS: draft.key, Property.UNIQ_KEY: f"U-{draft.key}"},
    )
    return list(acknowledged(drafts[:1], response))


def send_batch(client: Client, drafts: Sequence[Draft]) -> list[Acknowledged]:
    """Send *drafts* as one batch."""
    members = [(draft.body, {str(Property.KEYS): draft.key}) for draft in drafts]
    response = client.send_batch(
        topic=drafts[0].topic, queue_id=drafts[0].queue_id, body=batch_body(members)
    )
    return list(acknowledged(drafts, response))


def acknowledged(drafts: Sequence[Draft], response: Command) -> Iterator[Acknowledged]:
    """Yield *drafts* with the offsets of a successful *response*; else nothing."""
    if response.code != ResponseCode.SUCCESS:
        return
    first = int(response.fields["queueOffset"])
    ids = response.fields["msgId"].split(",")
    for number, (draft, message_id) in enumerate(zip(drafts, ids, strict=True)):
        yield Acknowledged(
            topic=draft.topic,
            queue_id=draft.queue_id,
            queue_offset=first + number,
            message_id=message_id,
            key=draft.key,
            body=draft.body,
        )


class Load:
    """Several producers at work on one topic."""

    def __init__(
        self,
        address: Address,
        topic: str,
        *,
        queue_count: int,
        seed: int,
        send: Send = send_one,
        producers: int = PRODUCERS,
    ) -> None:
        self.topic = topic
        self.queue_count = queue_count
        self._address = address
        self._seed = seed
        self._send = send
        self._lock = Lock()
        self._enough = Event()
        self._done: list[Acknowledged] = []
        self._ended: list[Exception] = []
        """Errors that ended a producer: after a kill, that there is no server."""
        self._threads = [
            Thread(target=self._produce, args=(number,), daemon=True)
            for number in range(producers)
        ]

    @property
    def count(self) -> int:
        """Number of messages acknowledged so far."""
        return len(self._done)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the producers work for the duration of a `with`, then end them."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._enough.set()
            for thread in self._threads:
                thread.join()

    def wait_for(self, count: int, *, timeout_s: float = 30.0) -> None:
        """Wait until *count* messages were acknowledged."""
        wait_until(
            lambda: self.count >= count or len(self._ended) == len(self._threads),
            what=f"{count} messages are acknowledged",
            timeout_s=timeout_s,
        )
        if self.count < count:
            raise self._ended[0]

    def done(self) -> list[Acknowledged]:
        """Return the acknowledged messages."""
        with self._lock:
            return list(self._done)

    def _produce(self, producer: int) -> None:
        chance = random.Random(f"{self._seed}/{producer}")  # noqa: S311 - repeatable
        try:
            with Client.connect(self._address) as client:
                number = 0
                while not self._enough.is_set():
                    drafts = self._drafts(chance, f"{producer}-{number}")
                    found = self._send(client, drafts)
                    with self._lock:
                        self._done += found
                    number += 1
        except (PeerError, PeerMisbehavedError) as error:
            self._ended.append(error)  # an unanswered request is not acknowledged

    def _drafts(self, chance: random.Random, name: str) -> list[Draft]:
        queue_id = chance.randrange(self.queue_count)
        count = chance.choice(BATCH_SIZES)
        return [
            Draft(
                topic=self.topic,
                queue_id=queue_id,
                key=f"k{self._seed}-{name}-{member}",
                body=b"%s-%d" % (name.encode(), member)
                + b"." * chance.choice(BODY_SIZES),
            )
            for member in range(count)
        ]
