"""
A broker that was killed, and its store as a power cut might have left it.

It flushed each message before its response, except the last few, whose producer did
not wait. It was configured not to flush its consume queues, and no index file was full.
So the log is on disk and all else may be missing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.recovery.load import Acknowledged, Draft, acknowledged
from conformance.recovery.power_cuts.crash_states import CrashState, Cut
from conformance.recovery.queue_checks import found_by_key
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.remoting.response_code import ResponseCode

LOG_FILE_SIZE = 1024 * 1024
"""All messages fit into one file: with any checkpoint, it is read whole."""
UNITS_PER_FILE = 220
"""A file of units has two pages; unit 204 lies on both."""
SETTINGS: Mapping[str, str] = {
    "flushDiskType": "SYNC_FLUSH",
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(UNITS_PER_FILE * UNIT_SIZE),
    "maxHashSlotNum": "100",
    "maxIndexNum": "2000",
    "flushIntervalConsumeQueue": "3600000",
}
MANY, FEW, TAIL = 230, 23, 4
TAG = "TagA"
BODY_SIZE, TAIL_BODY_SIZE = 300, 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """Store of a killed broker, and the messages it acknowledged."""

    target: Target
    saved: Path
    many: str
    """The topic of most messages; all of them have a tag."""
    few: str
    owed: tuple[Acknowledged, ...]
    """Messages flushed before their response."""
    tail: tuple[Acknowledged, ...]
    """Messages acknowledged and perhaps not flushed; to the topic of few."""

    def left(self, state: CrashState) -> StoreFiles:
        """Put the store back as *state* leaves it."""
        store = self.target.store_path
        assert store is not None
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(self.saved, store)
        files = StoreFiles(store)
        begin = self.tail[0].commit_log_offset
        tail = [placed for placed in files.records() if placed.offset >= begin]
        state.change(Cut(path=store, log_file_size=LOG_FILE_SIZE, tail=tuple(tail)))
        return files

    @contextmanager
    def serving(self) -> Iterator[Client]:
        """Yield a connection to the broker, which was started; kill it then."""
        try:
            with self.target.connect_to_broker() as broker:
                for topic in (self.many, self.few):  # its settings may be lost, too
                    require_success(broker.create_topic(topic=topic))
                yield broker
        finally:
            self.target.kill()


def crash(target: Target, directory: Path) -> Crashed:
    """Fill the store of a started *target*, kill it, keep a copy in *directory*."""
    many, few = (create_topic(target, unique_name(name)) for name in ("many", "few"))
    owed: list[Acknowledged] = []
    with target.connect_to_broker() as broker:
        for number in range(MANY):
            owed += send(broker, many, number)
            if number % 10 == 9:
                owed += send(broker, few, number // 10)
        tail = [
            one
            for number in range(FEW, FEW + TAIL)
            for one in send(broker, few, number, {"WAIT": "false"})
        ]
        broker.wait_for_max_offset(topic=many, offset=MANY)
        broker.wait_for_max_offset(topic=few, offset=FEW + TAIL)
        wait_until(
            lambda: bool(found_by_key(broker, few, tail[-1].key)),
            what="the index has the last message",
        )
    target.kill()
    assert target.store_path is not None
    saved = directory / "killed"
    shutil.copytree(target.store_path, saved)
    return Crashed(
        target=target,
        saved=saved,
        many=many,
        few=few,
        owed=tuple(owed),
        tail=tuple(tail),
    )


def send(
    broker: Client, topic: str, number: int, more: Mapping[str, str] | None = None
) -> list[Acknowledged]:
    """Send message *number* with a key and the tag; return it if it is owed.

    4.6.0 may answer the first message of a new log file with a flush timeout.
    """
    draft = Draft(
        topic=topic,
        queue_id=0,
        key=f"{topic}-{number}",
        body=(b"%05d" % number).ljust(TAIL_BODY_SIZE if more else BODY_SIZE, b"."),
    )
    response = broker.send_message(
        topic=topic,
        body=draft.body,
        properties={"KEYS": draft.key, "TAGS": TAG, **(more or {})},
    )
    if response.code != ResponseCode.FLUSH_DISK_TIMEOUT:
        require_success(response)
    assert response.fields["queueOffset"] == str(number)
    return list(acknowledged([draft], response))
