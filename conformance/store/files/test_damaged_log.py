"""Starting on a store in which a record or a unit was corrupted while it lay still."""

from __future__ import annotations

import shutil

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import LogFile, StoreFiles
from conformance.harness.targets.target import Target
from conformance.store.workload import Outgoing, Sent, send_all
from conformance.store.written_store import SMALL_FILES, wait_until_dispatched
from spec.store.consume_queue import UNIT_SIZE, decode_units
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "restart")]

COUNT = 100
"""So many messages of 3000 bytes take five files of 64 KiB."""


class Stopped:
    """A store with one queue of messages, whose broker was stopped in order."""

    def __init__(self, start_target: TargetStarter) -> None:
        self.target: Target = start_target(SMALL_FILES)
        assert self.target.store_path is not None
        self.files = StoreFiles(self.target.store_path)
        self.topic = create_topic(self.target, unique_name("damaged"))
        self.other = create_topic(self.target, unique_name("other"))
        bodies = Outgoing(topic=self.topic, body=bytes(3000))
        last = Outgoing(topic=self.other, properties={"KEYS": "last"})
        sent = send_all(self.target, [*[bodies] * COUNT, last])
        self.sent: list[Sent] = sent[:-1]
        wait_until_dispatched(self.files, sent[-1])
        self.target.stop()

    def corrupt_magic(self, number: int) -> int:
        """Corrupt the first record of a file, counted from 0; return its offset."""
        file = self.files.log_files()[number]
        data = bytearray(file.data)
        data[4:8] = b"\x01\x02\x03\x04"
        (self.files.path / COMMIT_LOG / file.name).write_bytes(data)
        return file.begin_offset

    def clear_last_unit(self) -> None:
        """Make zeros of the last unit of the queue of many messages."""
        name, data = self.files.queue(self.topic, 0).files[-1]
        begin = (len(decode_units(data)) - 1) * UNIT_SIZE
        corrupted = bytes(data[:begin]).ljust(len(data), b"\0")
        path = self.files.path / CONSUME_QUEUE / self.topic / "0" / name
        path.write_bytes(corrupted)

    def start(self) -> int:
        """Start the broker again; return the max offset of the queue."""
        self.target.start()
        with self.target.connect_to_broker() as broker:
            response = require_success(broker.max_offset(topic=self.topic))
        return int(response.fields["offset"])


def names_of(files: list[LogFile]) -> list[str]:
    """Return the names of *files*."""
    return [file.name for file in files]


@pytest.mark.clause("REC-SCAN-001", "REC-TRUNCATE-002")
def test_the_log_ends_before_a_broken_record(start_target: TargetStarter) -> None:
    store = Stopped(start_target)
    names = names_of(store.files.log_files())
    end = store.corrupt_magic(3)
    # Without queues every release reads the damaged file.
    shutil.rmtree(store.files.path / CONSUME_QUEUE)
    store.start()
    there = sorted(path.name for path in (store.files.path / COMMIT_LOG).iterdir())
    left = [name for name in there if name > names[3]]
    expect(
        "REC-TRUNCATE-002", found=left, expected=[], what="files after the log's end"
    )
    again = send_all(store.target, [Outgoing(topic=store.topic)])[0]
    expect(
        "REC-SCAN-001",
        found=again.commit_log_offset,
        expected=end,
        what="offset of the next record",
    )


def before(store: Stopped, end: int) -> int:
    """Return the number of messages below a commit-log offset."""
    return sum(sent.commit_log_offset < end for sent in store.sent)


@pytest.mark.clause("REC-FIRSTFILE-001")
@pytest.mark.parametrize("number", [1, -2])
def test_the_last_three_files_are_looked_at(
    start_target: TargetStarter, number: int
) -> None:
    store = Stopped(start_target)
    end = store.corrupt_magic(number)
    expected = COUNT if number == 1 else before(store, end)
    found = store.start()
    expect("REC-FIRSTFILE-001", found=found, expected=expected, what="max offset")


@pytest.mark.clause("REC-FIRSTFILE-004")
@pytest.mark.parametrize("number", [-2, -1])
def test_the_last_file_that_is_pointed_at_is_looked_at(
    start_target: TargetStarter, number: int
) -> None:
    store = Stopped(start_target)
    end = store.corrupt_magic(number)
    expected = COUNT if number == -2 else before(store, end)
    found = store.start()
    expect("REC-FIRSTFILE-004", found=found, expected=expected, what="max offset")


@pytest.mark.clause("REC-DISPATCH-002")
def test_a_lost_unit_stays_lost(start_target: TargetStarter) -> None:
    store = Stopped(start_target)
    store.clear_last_unit()
    expect("REC-DISPATCH-002", found=store.start(), expected=COUNT - 1, what="offset")
