"""
The deletion of old files, observed on a store whose files get older times.

A target writes some files of every kind and is stopped. All commit log files but the
last get a time two hours ago. The target is started again with fileReservedTime of one
hour. The last of the old files gets a time at which its hour ends after some cleaning
rounds. The module records when each file is deleted and what clients read then. The
tests compare the records with the clauses.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.client.requests.messages import now_ms
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.store.workload import Outgoing, send, send_all
from conformance.store.written_store import wait_until_dispatched
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, offset_of
from spec.store.queue_extension import END_SIZE, EXTENSION, SMALLEST_SIZE
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

FILE_SIZE = 64 * 1024
UNITS_PER_FILE = 10
EXTENSION_FILE_SIZE = UNITS_PER_FILE * SMALLEST_SIZE + END_SIZE
SETTINGS: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(UNITS_PER_FILE * UNIT_SIZE),
    "maxHashSlotNum": "10",
    "maxIndexNum": "40",
    "fileReservedTime": "1",
    "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
    "cleanResourceInterval": "10000",
    "enableConsumeQueueExt": "true",
    "mappedFileSizeConsumeQueueExt": str(EXTENSION_FILE_SIZE),
}
BODY = bytes(6000)
"""Ten messages fill a file of the log, and a blank."""
GONE_COUNT = 12
"""Messages of a queue that loses all, after the first of the log: two files."""
LOG_FILES = 15
YOUNG = 12
"""Number of the file that is left young; older ones before it are more than ten."""
RESERVED_S = 3600
AGE_S = 2 * RESERVED_S
EXPIRY_S = 85.0
"""Seconds from the start until that file is old, too."""
WATCHED_S = 115.0
"""From the start on: the rounds until then, and one more."""
TICK_S = 0.1
CLOCK_RATE = 10.0
"""Clock rate of the reference."""
GROUP = "conformance_ageing"
NEW_GROUP = "conformance_new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A message, and where it lies."""

    topic: str
    queue_offset: int
    offset: int
    stored_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of queue 0 of a topic, as the broker reports them."""

    least: int
    most: int
    earliest_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """Messages and files before the deletion."""

    kept: str
    """A topic some of whose messages will be left."""
    gone: str
    """A topic that will have none left."""
    first: str
    """A topic whose only message is the first of the log, and will be gone, too."""
    placed: tuple[Placed, ...]
    """All messages."""
    log_files: tuple[str, ...]
    index: tuple[tuple[str, int], ...]
    """Index files with their end offsets."""

    @property
    def topics(self) -> tuple[str, str, str]:
        """The names of all topics."""
        return self.kept, self.gone, self.first

    def of(self, topic: str) -> list[Placed]:
        """Return the messages of a topic, in order."""
        return [one for one in self.placed if one.topic == topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """Observations of the deletion."""

    before: Before
    start_s: float
    """Seconds from the start to the first reading; the broker's time began in them."""
    sightings: tuple[tuple[float, tuple[str, ...]], ...]
    """The log's files whenever they had changed, after so many seconds."""
    queue_files: Mapping[str, tuple[str, ...]]
    """Files of queue 0 by topic, after the deletion."""
    extension_files: Mapping[str, tuple[str, ...]]
    """Files of queue 0 by topic; empty if the target writes no extension."""
    index_files: tuple[str, ...]
    cleaned: Mapping[str, Bounds]
    """Min and max offset by topic, after the deletion."""
    responses: Mapping[str, Command]
    """Responses to other requests after the deletion."""
    restarted: Mapping[str, Bounds]
    """Min and max offset by topic, after another start."""
    group_offset: int
    """Then, of a group that had consumed all of the topic of which some are left."""
    expired: Mapping[str, Bounds]
    """Min and max offset by topic, after CLEAN_EXPIRED_CONSUMEQUEUE."""
    new_offset: int
    """Queue offset of the next message of the topic that had none left."""

    @property
    def log_start(self) -> int:
        """Offset of the first byte that is left of the log."""
        return int(self.sightings[-1][1][0])


def aged(target: Target, ending: threading.Event) -> Aged:
    """Let *target*, which is not started yet, write, age and clean."""
    target.conf.update(SETTINGS)
    target.start()
    before = _written(target)
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    make_old(files, spared={YOUNG})
    _set_queue_times(files, before)
    if Capability.CLOCK in target.capabilities:
        target.clock_rate = CLOCK_RATE
    began = time.monotonic()
    target.start()
    wait_until(
        lambda: tuple(file.name for file in files.log_files()) == before.log_files,
        what="the log has all of its files after a start",
    )
    _set_age(files, YOUNG, RESERVED_S - EXPIRY_S - _ahead_s(target))
    started = time.monotonic()
    start_s = (started - began) * target.clock_rate
    sightings = _watch(target, files, ending, started)
    with target.connect_to_broker() as broker:
        cleaned = {name: bounds_of(broker, name) for name in before.topics}
        responses = _responses(broker, before, cleaned[before.kept])
    queue_files = {name: _names_of_queue(files, name) for name in before.topics}
    extension_files = {name: _names_of_extension(files, name) for name in before.topics}
    index_files = tuple(file.name for file in files.index_files())
    target.restart()
    with target.connect_to_broker() as broker:
        restarted = {name: bounds_of(broker, name) for name in before.topics}
        consumed = broker.query_offset(group=GROUP, topic=before.kept)
        require_success(broker.invoke(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE, {}))
        expired = {name: bounds_of(broker, name) for name in before.topics}
        new_offset = send(broker, Outgoing(topic=before.gone)).queue_offset
    return Aged(
        before=before,
        start_s=start_s,
        sightings=sightings,
        queue_files=queue_files,
        extension_files=extension_files,
        index_files=index_files,
        cleaned=cleaned,
        responses=responses,
        restarted=restarted,
        group_offset=int(consumed.fields.get("offset", -1)),
        expired=expired,
        new_offset=new_offset,
    )


def make_old(files: StoreFiles, *, spared: Container[int]) -> None:
    """Give the log's files a time long ago, but those with the numbers *spared*."""
    for number in range(len(files.log_files())):
        if number not in spared:
            _set_age(files, number, AGE_S)


def _set_age(files: StoreFiles, number: int, age_s: float) -> None:
    """Let a file of the log have been changed so long ago."""
    then = now_ms() / 1000 - age_s
    os.utime(files.path / COMMIT_LOG / files.log_files()[number].name, (then, then))


def _ahead_s(target: Target) -> float:
    """Return the seconds by which the clock of *target* is ahead of this one."""
    if target.clock_rate == 1:
        return 0.0
    with target.connect_to_broker() as broker:
        info: Any = body_of(broker.broker_runtime_info())
    table = info["table"]
    days, hours, minutes, seconds = map(int, re.findall(r"[0-9]+", table["runtime"]))
    running_s = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return int(table["bootTimestamp"]) / 1000 + running_s - now_ms() / 1000


def _set_queue_times(files: StoreFiles, before: Before) -> None:
    """Let each queue file have been changed when its last message was stored.

    Up to 5.1.0 a search chooses a file by this time (OFFSET-SEARCH-008). From 4.9.3 on
    units are written into mapped memory, which need not move it.
    """
    for topic in before.topics:
        placed = before.of(topic)
        for name, data in files.queue(topic, 0).files:
            end = (offset_of(name) + len(data)) // UNIT_SIZE
            last_ns = placed[min(end, len(placed)) - 1].stored_at_ms * 1_000_000
            path = files.path / CONSUME_QUEUE / topic / "0" / name
            os.utime(path, ns=(last_ns, last_ns))


def bounds_of(broker: Client, topic: str) -> Bounds:
    """Return the bounds of queue 0 of *topic* that *broker* reports."""
    return Bounds(
        least=_number(broker.min_offset(topic=topic), "offset"),
        most=_number(broker.max_offset(topic=topic), "offset"),
        earliest_ms=_number(broker.earliest_store_time(topic=topic), "timestamp"),
    )


def _number(response: Command, field: str) -> int:
    return int(require_success(response).fields[field])


def _written(target: Target) -> Before:
    """Write some files of every kind, and stop *target*."""
    kept, gone, first = (
        create_topic(target, unique_name(f"aged_{what}"), queue_count=1)
        for what in ("kept", "gone", "first")
    )
    _fill(target, kept, gone, first)
    target.stop()
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    placed = tuple(
        Placed(
            topic=one.record.topic,
            queue_offset=one.record.queue_offset,
            offset=one.offset,
            stored_at_ms=one.record.stored_at_ms,
        )
        for one in files.records()
    )
    return Before(
        kept=kept,
        gone=gone,
        first=first,
        placed=placed,
        log_files=tuple(file.name for file in files.log_files()),
        index=tuple(
            (file.name, file.header.end_offset) for file in files.index_files()
        ),
    )


def _fill(target: Target, kept: str, gone: str, first: str) -> None:
    """Send one message to *first*, some to *gone*, the rest to *kept*."""
    template = Outgoing(topic=kept, body=BODY)
    messages = [replace(template, topic=first)]
    messages += [replace(template, topic=gone)] * GONE_COUNT
    count = LOG_FILES * 10 - 5 - len(messages)
    messages += [
        replace(template, properties={"KEYS": f"k{number}"}) for number in range(count)
    ]
    assert target.store_path is not None
    sent = send_all(target, messages)
    wait_until_dispatched(StoreFiles(target.store_path), sent[-1])
    with target.connect_to_broker() as broker:
        require_success(broker.update_group(group=GROUP))
        require_success(broker.update_offset(group=GROUP, topic=kept, offset=count))
        broker.wait_for_max_offset(topic=kept, offset=count)


def _watch(
    target: Target, files: StoreFiles, ending: threading.Event, began: float
) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """Note how the log's files change after *began*, for a minute and some rounds."""
    rate = target.clock_rate
    directory = files.path / COMMIT_LOG
    found: list[tuple[float, tuple[str, ...]]] = []
    now_s = 0.0
    while now_s < WATCHED_S:
        now_s = (time.monotonic() - began) * rate
        names = tuple(sorted(path.name for path in directory.iterdir()))
        if not found or found[-1][1] != names:
            found.append((now_s, names))
        if ending.wait(TICK_S / rate):
            raise TimeoutError("the run ended before the deletion was seen")
    return tuple(found)


def _responses(broker: Client, before: Before, bounds: Bounds) -> dict[str, Command]:
    """Query messages that are deleted and messages that are left."""
    kept, least = before.kept, bounds.least
    require_success(broker.update_group(group=NEW_GROUP))
    return {
        "offset of a new group": broker.query_offset(group=NEW_GROUP, topic=kept),
        "pull below": broker.pull(topic=kept, offset=max(least - 1, 0)),
        "pull first": broker.pull(topic=kept, offset=least, max_count=1),
        "search 0": broker.search_offset(topic=kept, timestamp_ms=0),
        "search first": broker.search_offset(
            topic=kept, timestamp_ms=bounds.earliest_ms
        ),
        "pull gone": broker.pull(topic=before.gone, offset=0),
        "pull gone units": broker.pull(topic=before.gone, offset=UNITS_PER_FILE),
        "pull first of log": broker.pull(topic=before.first, offset=0, max_count=1),
        "search gone": broker.search_offset(topic=before.gone, timestamp_ms=now_ms()),
        "query gone": broker.query_message(topic=kept, key="k0"),
        "query below": broker.query_message(topic=kept, key=f"k{least - 1}"),
        "query first": broker.query_message(topic=kept, key=f"k{least}"),
    }


def _names_of_queue(files: StoreFiles, topic: str) -> tuple[str, ...]:
    return tuple(name for name, _ in files.queue(topic, 0).files)


def _names_of_extension(files: StoreFiles, topic: str) -> tuple[str, ...]:
    directory = files.path / EXTENSION / topic / "0"
    found = sorted(directory.iterdir()) if directory.is_dir() else []
    return tuple(path.name for path in found)
