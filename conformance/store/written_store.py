"""
A target, what the suite sent to it, and what it stored.

A target of the suite's own has small files and no other messages. A running cluster has
both, so records are requested from it: the response to VIEW_MESSAGE_BY_ID is a record
as the commit log has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from hypothesis.vendor.pretty import RepresentationPrinter

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache_conf import both_spellings
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.store.workload import (
    QUEUES,
    Outgoing,
    Sent,
    delayed_message,
    half_message,
    planned_messages,
    send,
    send_all,
    unqueued_messages,
)
from spec.store.commit_log import PlacedRecord, scan
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

LOG_FILE_SIZE = 64 * 1024
QUEUE_FILE_SIZE = 20 * 50
SLOT_COUNT = 50
ITEM_ROOM = 300
LARGEST_FILLED = 64 * 1024 * 1024
"""Largest files of a running broker's commit log that a test fills."""
LARGE_BODY = 200_000
"""Bytes of a body of a message that fills such a file."""

SMALL_FILES: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    # One byte less than 50 units: the broker rounds up.
    "mapedFileSizeConsumeQueue": str(QUEUE_FILE_SIZE - 1),
    "maxHashSlotNum": str(SLOT_COUNT),
    "maxIndexNum": str(ITEM_ROOM),
    "flushConsumeQueueThoroughInterval": "1000",
    "flushDelayOffsetInterval": "1000",
}
"""Broker settings with which a few hundred messages fill several files of each kind."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Written:
    """A store with a known content: the messages that the suite sent."""

    target: Target
    store: StoreFiles | None
    """Files of the store, where they can be read."""
    is_alone: bool
    """Whether the store has no messages but those of the suite and the broker."""
    topics: tuple[str, str]
    sent: tuple[Sent, ...]
    """Messages with a place in a consume queue, in the order of sending."""
    unqueued: tuple[Sent, ...]
    """Messages without one: their system flags are PREPARED or ROLLBACK."""
    delayed: Sent
    """A delayed message that waits all the time."""
    delivered: Sent
    """A delayed message that was due after a second, and is in its own queue."""
    half: Sent
    """A half message that was committed."""
    commit: Command
    """The response to the commit; a test's business, not ours."""
    settings: Mapping[str, str]
    """Settings of the broker: the suite's, or those that a running one reports."""

    def __repr__(self) -> str:
        # Failures print what a test was given; this one holds a megabyte.
        return f"<{self.target.text} with {len(self.sent)} messages>"

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: bool) -> None:
        # Hypothesis prints a dataclass field by field unless it has this method.
        printer.text(repr(self))

    @property
    def files(self) -> StoreFiles:
        """Files of the store, for tests that need the capability."""
        assert self.store is not None
        return self.store

    def records(self) -> list[PlacedRecord]:
        """Return the records in the order of the commit log.

        Of a target with other messages, they are those of the suite.
        """
        if self.is_alone and self.store is not None:
            return self.store.records()
        known = (*self.sent, *self.unqueued, self.delayed, self.delivered, self.half)
        offsets = {sent.commit_log_offset for sent in known}
        with self.target.connect_for_admin() as client:
            found = list(_views(client, offsets))
            for topic in self.topics:
                found += _pulled(client, topic)
        records = {placed.offset: placed for placed in found}
        return [records[offset] for offset in sorted(records)]

    def record_bytes(self, sent: Sent) -> bytes:
        """Return the record of *sent*; empty if it does not exist."""
        if self.is_alone and self.store is not None:
            return self.store.record_bytes(sent.commit_log_offset) or b""
        with self.target.connect_for_admin() as client:
            return client.view_message(commit_log_offset=sent.commit_log_offset).body

    def send(self, message: Outgoing) -> Sent:
        """Send one more message over a fresh connection."""
        return send_all(self.target, [message])[0]

    def setting(self, name: str) -> int:
        """Return a number of the settings; without it the test is unsupported."""
        if name not in self.settings:
            unsupported(f"the broker does not report its setting {name}")
        return int(self.settings[name])

    @property
    def log_file_size(self) -> int:
        """Bytes of a file of the commit log."""
        return self.setting("mappedFileSizeCommitLog")

    def approach_end(self) -> None:
        """Send until a file of the commit log has less room than a small file.

        The running test is unsupported where the files are too large for that.
        """
        size = self.log_file_size
        if size > LARGEST_FILLED:
            small = f"mappedFileSizeCommitLog of at most {LARGEST_FILLED}"
            unsupported(f"it fills files, so it needs {small} ({size} there)")
        if self.is_alone:
            return
        body = b""
        while True:
            sent = self.send(Outgoing(topic=self.topics[1], body=body or b"x"))
            left = size - sent.commit_log_offset % size - len(body)
            if left <= LOG_FILE_SIZE:
                return
            body = bytes(min(left - LOG_FILE_SIZE // 2, LARGE_BODY))


def write(target: Target, *, is_alone: bool = True) -> Written:
    """Send the workload to *target* and wait until queues and index have it."""
    settings: Mapping[str, str] = SMALL_FILES
    if not is_alone:
        with target.connect_for_admin() as admin:
            settings = admin.broker_settings()
    settings = both_spellings(settings)
    path, slots = target.store_path, settings.get("maxHashSlotNum")
    if path is None or Capability.STORE not in target.capabilities:
        store = None
    else:
        store = StoreFiles(path, int(slots) if slots else None)
    topics = (
        create_topic(target, unique_name("store")),
        create_topic(target, unique_name("store")),
    )
    sent = send_all(target, planned_messages(topics))
    unqueued = send_all(target, unqueued_messages(topics[0]))
    delayed = send_all(target, [delayed_message(topics[0], level=18)])[0]
    delivered = send_all(target, [delayed_message(topics[0], level=1)])[0]
    half, commit = _send_transaction(target, topics[0])
    last = send_all(target, [Outgoing(topic=topics[1], properties={"KEYS": "last"})])[0]
    # A queue or index that never catches up is reported by its own tests.
    with suppress(TooLateError):
        if store is not None:
            wait_until_dispatched(store, last)
    return Written(
        target=target,
        store=store,
        is_alone=is_alone,
        topics=topics,
        sent=(*sent, last),
        unqueued=tuple(unqueued),
        delayed=delayed,
        delivered=delivered,
        half=half,
        commit=commit,
        settings=settings,
    )


def _views(client: Client, offsets: Iterable[int]) -> Iterator[PlacedRecord]:
    """Yield the records at *offsets*."""
    for offset in offsets:
        response = client.view_message(commit_log_offset=offset)
        if response.code == ResponseCode.SUCCESS:
            yield from scan(response.body, offset, check_crc=False).records


def _pulled(client: Client, topic: str) -> Iterator[PlacedRecord]:
    """Yield the records of all queues of *topic*."""
    group = unique_name("reader")
    require_success(client.update_group(group=group))
    for queue_id in range(QUEUES):
        for response in client.pull_to_end(topic=topic, queue_id=queue_id, group=group):
            for placed in scan(response.body, 0, check_crc=False).records:
                yield replace(placed, offset=placed.record.physical_offset)


def wait_until_dispatched(files: StoreFiles, last: Sent) -> None:
    """Wait until the queue and the index have *last*, which must have a key."""
    assert indexed_properties_of(last), "only a message with a key is indexed"

    def dispatched() -> bool:
        units = files.queue(last.message.topic, last.queue_id).units()
        index = files.index_files()
        return (
            bool(units)
            and units[-1].commit_log_offset >= last.commit_log_offset
            and bool(index)
            and index[-1].header.end_offset >= last.commit_log_offset
        )

    wait_until(dispatched, what="the last message is in its queue and in the index")


def indexed_properties_of(sent: Sent) -> dict[str, str]:
    """Return the properties whose values the index has as keys."""
    indexed = ("KEYS", "UNIQ_KEY")
    return {k: v for k, v in sent.message.properties.items() if k in indexed}


def _send_transaction(target: Target, topic: str) -> tuple[Sent, Command]:
    """Send a half message, commit it; return it and the response to the commit."""
    group = unique_name("producer")
    with target.connect_to_broker() as client:
        half = send(client, half_message(topic, group))
        commit = client.end_transaction(
            group=group,
            commit_log_offset=half.commit_log_offset,
            queue_offset=half.queue_offset,
            decision=8,
            message_id=half.message_id,
        )
    return half, commit
