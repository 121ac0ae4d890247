"""
The original of a store, and copies of it to be damaged and started on.

A broker fills it once and is stopped in order. Each test gets the store back in that
state, damages it, and starts the same broker on it. A start takes long, so a test has
as few of them as it can.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import LogFile, StoreFiles
from conformance.harness.targets.target import Target
from conformance.recovery.load import Acknowledged, Draft, send_one
from conformance.recovery.queue_checks import found_by_key
from conformance.recovery.restart import put_back
from conformance.recovery.small_files import SLOT_COUNT
from spec.store.commit_log import PlacedRecord
from spec.store.file_names import ABORT

MANY, FEW = 190, 21
"""Messages to queue 0 of one topic: six files of log, four of its queue. And of another
topic, one after every ten of them and two small ones at the end."""
BODY_SIZE = 1500
EARLY = 3
"""Messages of a third topic, the first of all."""
COMMITTED = 7
EMPTY_BODY = 180
"""The number of the message that has no body; it is in the log's last file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Messages sent, in the order of the log."""

    many: str
    """The topic of most messages."""
    few: str
    early: str
    group: str
    """A group that has committed offset 7 in the queue of most messages."""
    sent: tuple[Acknowledged, ...]

    def of(self, topic: str) -> list[Acknowledged]:
        """Return the messages of *topic*, whose places are their queue offsets."""
        return [one for one in self.sent if one.topic == topic]


class Original:
    """A stopped broker, and a store that can be put back as it was."""

    def __init__(self, target: Target, history: History, saved: Path) -> None:
        self.target = target
        self.history = history
        self._saved = saved

    @cached_property
    def log(self) -> list[LogFile]:
        """The files of the commit log as they were."""
        return StoreFiles(self._saved, SLOT_COUNT).log_files()

    @cached_property
    def records(self) -> list[PlacedRecord]:
        """The records of the commit log as they were."""
        return [placed for file in self.log for placed in file.scan.records]

    @property
    def end(self) -> int:
        """End of the commit log, as an offset in bytes."""
        return self.log[-1].scan.end_offset

    def restored(self, *, crashed: bool = False) -> StoreFiles:
        """Put the store back; with *crashed* as if its broker had not been stopped."""
        store = put_back(self.target, self._saved)
        if crashed:
            (store / ABORT).touch()
        return StoreFiles(store, SLOT_COUNT)

    @contextmanager
    def started(self) -> Iterator[Client]:
        """Start the broker on the store as it is; yield a connection; kill it."""
        self.target.start()
        try:
            with self.target.connect_to_broker() as broker:
                yield broker
        finally:
            self.target.kill()

    def end_after_start(self) -> int:
        """Start the broker; return where the next record went: the log's end."""
        with self.started() as broker:
            return next_offset(broker, self.history.few)

    def before(self, offset: int, topic: str = "") -> int:
        """Return the number of messages of *topic* before a commit-log offset."""
        sent = self.history.of(topic or self.history.many)
        return sum(one.commit_log_offset < offset for one in sent)

    def placed(self, one: Acknowledged) -> PlacedRecord:
        """Return the record of a message."""
        begin = one.commit_log_offset
        return next(placed for placed in self.records if placed.offset == begin)


def filled(target: Target, directory: Path) -> Original:
    """Fill the store of a started *target*, stop it, keep a copy in *directory*."""
    many, few, early = (
        create_topic(target, unique_name(name)) for name in ("many", "few", "early")
    )
    group = unique_name("group")
    sent: list[Acknowledged] = []
    with target.connect_to_broker() as broker:
        sent += [send_small(broker, early, number) for number in range(EARLY)]
        for number in range(MANY):
            body = (b"%07d" % number).ljust(BODY_SIZE, b".")
            if number == EMPTY_BODY and (one := _sent(broker, many, number, b"")):
                sent += one  # 5.x refuses it
            else:
                sent += must_send(broker, many, number, body)
            if number % 10 == 9:
                sent += must_send(broker, few, number // 10, body)
        sent += [send_small(broker, few, number) for number in (FEW - 2, FEW - 1)]
        broker.wait_for_max_offset(topic=many, offset=MANY)
        broker.wait_for_max_offset(topic=few, offset=FEW)
        wait_until(
            lambda: bool(found_by_key(broker, sent[-1].topic, sent[-1].key)),
            what="the index has the last message",
        )
        require_success(broker.update_group(group=group))
        require_success(broker.update_offset(group=group, topic=many, offset=COMMITTED))
    target.stop()
    assert target.store_path is not None
    saved = directory / "original"
    shutil.copytree(target.store_path, saved)
    history = History(many=many, few=few, early=early, group=group, sent=tuple(sent))
    return Original(target, history, saved)


def must_send(
    broker: Client, topic: str, number: int, body: bytes
) -> list[Acknowledged]:
    """Send a message that no broker refuses."""
    found = _sent(broker, topic, number, body)
    assert found, f"message {number} was refused"
    return found


def _sent(broker: Client, topic: str, number: int, body: bytes) -> list[Acknowledged]:
    key = f"{topic}-{number}"
    return send_one(broker, [Draft(topic=topic, queue_id=0, key=key, body=body)])


def send_small(broker: Client, topic: str, number: int) -> Acknowledged:
    """Send a message; those with numbers of two digits have records of one size."""
    return must_send(broker, topic, number, b"small %02d" % number)[0]


def next_offset(broker: Client, topic: str) -> int:
    """Send a message; return where in the commit log its record went."""
    return must_send(broker, topic, -1, b"next")[0].commit_log_offset
