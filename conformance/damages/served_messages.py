"""
Messages of a store that a broker still serves, identified by their queue and offset.

Before the damage, every message is read from the files. After it, each queue is pulled
one message at a time, so that an unreadable message shows as a gap. A message that no
queue returns is queried by its offset. Messages whose record and unit the damage
removed are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from conformance.damages import base_store as rolled
from conformance.harness.client.client import Client
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.targets.store_files import StoreFiles
from spec.layout import LayoutError
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_unit
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, file_name, offset_of
from spec.store.message_record import Record, decode_record
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

Queue: TypeAlias = tuple[str, int]
Identity: TypeAlias = tuple[Queue, int]
"""Queue and queue offset in a record."""
Span: TypeAlias = dict[str, str | int]

GARBAGE: Identity = ("", 0), -1
"""Marker for bytes that are not a record."""
STUCK: Identity = ("", 0), -2
"""Nothing was handed out, nor an offset to go on from: a consumer stays there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the store before the damage."""

    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    size: int

    @property
    def queue(self) -> Queue:
        """Topic and queue id."""
        return self.topic, self.queue_id


def messages_in(store: Path) -> list[Message]:
    """Return the messages of *store*, which is whole."""
    return [
        Message(
            topic=topic,
            queue_id=queue_id,
            queue_offset=number,
            commit_log_offset=unit.commit_log_offset,
            size=unit.size,
        )
        for (topic, queue_id), files in sorted(StoreFiles(store).queues().items())
        for number, unit in enumerate(files.units())
    ]


def still_known(messages: Iterable[Message], store: Path) -> list[Message]:
    """Return those of *messages* whose record or unit the damaged *store* has.

    Messages before the log's first file count as deleted for their age, even if a queue
    has units for them. Units that the damage added count as messages.
    """
    first = min(map(offset_of, _numbers_in(store / COMMIT_LOG)), default=0)
    known = [
        one
        for one in messages
        if one.commit_log_offset >= first
        and (_has_record(store, one) or _has_unit(store, one))
    ]
    return known + [one for one in _unit_at_ends(messages, store) if one.size > 0]


def _numbers_in(directory: Path) -> list[str]:
    names = [path.name for path in directory.glob("*")]
    return [name for name in names if name.isdecimal()]


def _unit_at_ends(messages: Iterable[Message], store: Path) -> Iterator[Message]:
    """Yield the unit after each queue's last message, unless another owns it."""
    ends = Counter(one.queue for one in messages)
    offsets = {one.commit_log_offset for one in messages}
    for (topic, queue_id), end in sorted(ends.items()):
        unit = _unit_at(store, (topic, queue_id), end)
        if unit is not None and unit.commit_log_offset not in offsets:
            yield Message(
                topic=topic,
                queue_id=queue_id,
                queue_offset=end,
                commit_log_offset=unit.commit_log_offset,
                size=unit.size,
            )


def _has_record(store: Path, message: Message) -> bool:
    data = _stored(
        store / COMMIT_LOG,
        message.commit_log_offset,
        size=message.size,
        file_size=rolled.LOG_FILE_SIZE,
    )
    return _identity_of(data) == (message.queue, message.queue_offset)


def _has_unit(store: Path, message: Message) -> bool:
    unit = _unit_at(store, message.queue, message.queue_offset)
    return unit is not None and unit.commit_log_offset == message.commit_log_offset


def _unit_at(store: Path, queue: Queue, queue_offset: int) -> Unit | None:
    data = _stored(
        store / CONSUME_QUEUE / queue[0] / str(queue[1]),
        queue_offset * UNIT_SIZE,
        size=UNIT_SIZE,
        file_size=rolled.QUEUE_FILE_SIZE,
    )
    return decode_unit(data) if data else None


def _stored(directory: Path, offset: int, *, size: int, file_size: int) -> bytes:
    """Return the bytes at an offset of rolled files, none where they are not whole."""
    file = directory / file_name(offset - offset % file_size)
    data = file.read_bytes() if file.is_file() else b""
    found = data[offset % file_size :][:size]
    return found if len(found) == size else b""


def _identity(record: Record) -> Identity:
    return (record.topic, record.queue_id), record.queue_offset


@dataclass(slots=True)
class Pulled:
    """Messages in a broker's queues, by queue offset."""

    ends: dict[Queue, tuple[int, int]] = field(default_factory=dict)
    places: dict[Queue, dict[int, Identity]] = field(default_factory=dict)
    """Identity of the record at each queue offset, by queue."""

    def times(self, message: Message) -> int:
        """Return at how many places of its queue *message* is handed out."""
        own = (message.queue, message.queue_offset)
        return list(self.places.get(message.queue, {}).values()).count(own)

    def stuck(self) -> list[str]:
        """Return the places that a consumer does not get past."""
        return [
            f"{topic}/{queue_id}/{place}"
            for (topic, queue_id), places in self.places.items()
            for place, identity in places.items()
            if identity == STUCK
        ]


def pull(broker: Client, queues: Iterable[Queue]) -> Pulled:
    """Pull each of *queues* from its smallest offset to its end."""
    pulled = Pulled()
    for queue in queues:
        begin, end = (
            int(response.fields["offset"])
            for response in (
                broker.min_offset(topic=queue[0], queue_id=queue[1]),
                broker.max_offset(topic=queue[0], queue_id=queue[1]),
            )
        )
        pulled.ends[queue] = begin, end
        pulled.places[queue] = dict(_pulled_places(broker, queue, begin, end))
    return pulled


def _pulled_places(
    broker: Client, queue: Queue, begin: int, end: int
) -> Iterator[tuple[int, Identity]]:
    """Yield place and identity of what a queue hands out."""
    offset = begin
    while offset < end:
        response = _pull_one(broker, queue, offset)
        after = int(response.fields.get("nextBeginOffset", offset))
        if response.code == ResponseCode.SUCCESS:
            yield after - 1, _identity_of(response.body)
        if after <= offset:
            yield offset, STUCK
        offset = max(after, offset + 1)


def _pull_one(broker: Client, queue: Queue, offset: int) -> Command:
    """Return the response to a pull; some pulls get none, even when repeated."""
    for _ in range(2):
        with suppress(NoResponseError):
            return broker.pull(
                topic=queue[0],
                queue_id=queue[1],
                offset=offset,
                group=rolled.GROUP,
                max_count=1,
            )
    return Command(code=ResponseCode.SYSTEM_ERROR)


def _identity_of(body: bytes) -> Identity:
    try:
        return _identity(decode_record(body, check_crc=False))
    except LayoutError:
        return GARBAGE


def spans(messages: Iterable[Message]) -> list[Span]:
    """Return *messages* as the prediction lists them: runs of queue offsets."""
    runs: list[Span] = []
    for one in sorted(messages, key=lambda one: (one.queue, one.queue_offset)):
        begin, end = str(one.queue_offset), str(one.queue_offset + 1)
        last = runs[-1] if runs else {}
        if (last.get("topic"), last.get("queue"), last.get("to")) == (
            *one.queue,
            begin,
        ):
            last |= {"to": end, "count": int(last["count"]) + 1}
        else:
            place: Span = {"topic": one.topic, "queue": one.queue_id}
            runs.append({**place, "from": begin, "to": end, "count": 1})
    return runs


def fates(
    broker: Client, messages: Iterable[Message], pulled: Pulled
) -> Mapping[str, list[Span]]:
    """Return the lost, the invisible and the repeated *messages*."""
    found: dict[str, list[Message]] = {"lost": [], "invisible": [], "repeated": []}
    for one in messages:
        times = pulled.times(one)
        if times > 1:
            found["repeated"].append(one)
        elif not times:
            found["invisible" if _can_be_viewed(broker, one) else "lost"].append(one)
    return {kind: spans(those) for kind, those in found.items()}


def _can_be_viewed(broker: Client, message: Message) -> bool:
    response = broker.view_message(commit_log_offset=message.commit_log_offset)
    if response.code != ResponseCode.SUCCESS:
        return False
    return _identity_of(response.body) == (message.queue, message.queue_offset)
