"""
State of one target in one program, and the connections to it.

A program names things by symbols: topic T0, group G1, client C0, the second message
that was sent. A world maps them to unique names of this run, and to the ids and offsets
that its target returned. Each side of a comparison has its own world.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.harness.client.client import Client
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.targets.target import Target
from spec.layout import LayoutError
from spec.store.message_record import decode_record
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

SYMBOL = re.compile(r"(?<![A-Za-z])[TGCN]\d")
PACE_S = 0.004
"""Between two sends, so that no two messages of a program share a millisecond."""
SETTLE_TIMEOUT_S = 3.0
HURRIED_S = 0.3
"""Wait for a queue, after the target once failed to fill one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that the target has taken, or the first of a batch."""

    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    unique_key: str


@dataclass(slots=True)
class Patience:
    """Wait for a target's queues; shared by all programs of a run."""

    timeout_s: float = SETTLE_TIMEOUT_S


@dataclass(slots=True)
class World(Closing):
    """One target in one program."""

    target: Target
    prefix: str
    """Prefix of the program's names, of equal length on both sides."""
    patience: Patience = field(default_factory=Patience)
    sent: list[Sent] = field(default_factory=list)
    halves: list[Sent] = field(default_factory=list)
    ends: dict[tuple[str, int], int] = field(default_factory=dict)
    """End of each queue as returned by the target, by topic and queue."""
    keyed: dict[tuple[str, str], int] = field(default_factory=dict)
    """Number of messages by topic and key."""
    _connections: dict[str, Client] = field(default_factory=dict)
    _sent_at: float = 0.0

    @property
    def broker(self) -> Client:
        """Connection for requests that belong to no client."""
        return self.client("broker")

    @property
    def namesrv(self) -> Client:
        """The connection to the name server."""
        if "namesrv" not in self._connections:
            self._connections["namesrv"] = self.target.connect_to_namesrv()
        return self._connections["namesrv"]

    def client(self, symbol: str) -> Client:
        """Return the connection of one client."""
        if symbol not in self._connections:
            self._connections[symbol] = self.target.connect_to_broker()
        return self._connections[symbol]

    def close(self) -> None:
        """Close every connection; the next request opens another."""
        for client in self._connections.values():
            client.close()
        self._connections.clear()

    def named(self, symbol: str) -> str:
        """Return *symbol*, or what contains one, as a name of this program."""
        return SYMBOL.sub(lambda found: f"{self.prefix}{found[0]}", symbol)

    def pace(self) -> None:
        """Wait for another millisecond than that of the last send."""
        left_s = self._sent_at + PACE_S - time.monotonic()
        if left_s > 0:
            time.sleep(left_s)
        self._sent_at = time.monotonic()

    def note(
        self,
        topic: str,
        response: Command,
        *,
        count: int = 1,
        keys: Iterable[str] = (),
        unique_key: str = "",
    ) -> None:
        """Note that messages were taken, and how many of them a queue will have."""
        one = sent_of(topic, response, unique_key)
        if one is not None:
            self.sent.append(one)
            if count:
                self.ends[topic, one.queue_id] = one.queue_offset + count
            for key in keys:
                self.keyed[topic, key] = self.keyed.get((topic, key), 0) + 1

    def note_half(self, topic: str, response: Command, unique_key: str) -> None:
        """Note that a half message was taken, if it was."""
        one = sent_of(topic, response, unique_key)
        if one is not None:
            self.halves.append(one)

    def grew(self, topic: str, queue_id: int) -> None:
        """Note that the target itself put a message into a queue."""
        self.ends[topic, queue_id] = self.ends.get((topic, queue_id), 0) + 1

    def emptied(self, topic: str) -> None:
        """Note that a topic is gone, its queues with it."""
        self.ends = {
            place: end for place, end in self.ends.items() if place[0] != topic
        }

    def message(self, index: int) -> Sent | None:
        """Return one of the messages that were sent; None before there is any."""
        return self.sent[index % len(self.sent)] if self.sent else None

    def half(self, index: int) -> Sent | None:
        """Return one of the half messages that were sent; None before there is any."""
        return self.halves[index % len(self.halves)] if self.halves else None

    def stored_at_ms(self, one: Sent) -> int:
        """Return when a message was stored; 0 where the target does not show it."""
        response = self.broker.view_message(commit_log_offset=one.commit_log_offset)
        try:
            return decode_record(response.body, check_crc=False).stored_at_ms
        except LayoutError:
            return 0

    def settle(
        self, topic: str, queue_id: int, *, timeout_s: float | None = None
    ) -> None:
        """Wait until a queue holds what was sent to it: it fills after the response."""
        end = self.ends.get((topic, queue_id), 0)
        if end:
            name = self.named(topic)
            self._wait(lambda: self._holds(name, queue_id, end), timeout_s)

    def settle_key(self, topic: str, key: str) -> None:
        """Wait until the index holds the messages of a key."""
        count = self.keyed.get((topic, key), 0)
        if count:
            name = self.named(topic)
            self._wait(lambda: self._finds(name, self.named(key), count))

    def _holds(self, topic: str, queue_id: int, end: int) -> bool:
        pulled = self.broker.pull(
            topic=topic, queue_id=queue_id, offset=end - 1, max_count=1
        )
        if pulled.code == ResponseCode.SUCCESS:
            return True
        response = self.broker.max_offset(topic=topic, queue_id=queue_id)
        return int(response.fields.get("offset", "0")) >= end

    def _finds(self, topic: str, key: str, count: int) -> bool:
        response = self.broker.query_message(topic=topic, key=key, max_count=64)
        return response.body.count(key.encode()) >= count

    def _wait(
        self, condition: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        limit_s = timeout_s or self.patience.timeout_s
        try:
            wait_until(condition, what="what was sent is there", timeout_s=limit_s)
        except TooLateError:
            self.patience.timeout_s = HURRIED_S  # the next request shows the fault


def sent_of(topic: str, response: Command, unique_key: str) -> Sent | None:
    """Return the message to whose send this is the *response*; None if it has none."""
    fields = response.fields
    try:
        first, *_ = fields.get("msgId", "").split(",")
        _, place = decode_message_id(first)
        return Sent(
            topic=topic,
            queue_id=int(fields["queueId"]),
            queue_offset=int(fields["queueOffset"]),
            commit_log_offset=place,
            unique_key=unique_key,
        )
    except (LayoutError, KeyError, ValueError):
        return None
