"""
The round of cleaning: what is gone after it, what stays, and what readers see.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from reference.core.store.cleaning import HOUR_MS, Retention
from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from reference.core.store.types import GetMessageStatus, PutStatus
from reference.shell.storage.disk import DiskFiles
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
)

ALWAYS = Retention(reserved_ms=HOUR_MS, hours=frozenset(range(24)))
LATER_MS = NOON_MS + 2 * HOUR_MS
PER_FILE = 5
"""Messages of this test that fit a file of the log."""


class SomeFiles(MemoryFiles):
    """A directory of a disk with a simulated usage."""

    used = 50
    refused = ""

    def disk_space(self) -> tuple[int, int]:
        """Return a disk of 100 bytes."""
        return 100, 100 - self.used

    def delete(self, path: str) -> None:
        """Delete the file, unless it is the one that will not go."""
        if path == self.refused:
            raise FilesError(f"cannot delete {path}")
        super().delete(path)


def filled(files: MemoryFiles, count: int = 12 * PER_FILE) -> MessageStore:
    """Return a store with *count* messages in one queue, all of the same time."""
    store = started(files)
    files.now_ms = NOON_MS
    for number in range(count):
        put = message(body=bytes(90), properties=f"KEYS\x01k{number}\x02")
        assert append_one(store, put, NOON_MS).status is PutStatus.PUT_OK
    store.dispatch()
    return store


def clean(
    store: MessageStore, retention: Retention = ALWAYS, now_ms: int = LATER_MS
) -> int:
    """Run one round; return how often it paused."""
    return sum(1 for _ in store.clean_service.delete_expired_files(retention, now_ms))


def test_a_round_deletes_ten_files_and_the_next_the_rest_but_one() -> None:
    store = filled(SomeFiles())
    bases = store.log.files.start_offsets
    assert len(bases) == 12
    clean(store)
    assert store.log.files.start_offsets == bases[10:]
    clean(store)
    clean(store)
    assert store.log.files.start_offsets == bases[11:]


def test_a_queue_begins_with_its_first_message_that_is_left() -> None:
    store = filled(SomeFiles())
    clean(store)
    assert store.min_offset("T", 0) == 10 * PER_FILE
    assert store.max_offset("T", 0) == 12 * PER_FILE
    assert len(all_records(store, "T", 0)) == 2 * PER_FILE
    below = store.get("T", 0, 10 * PER_FILE - 1, 1)
    assert below.status is GetMessageStatus.OFFSET_TOO_SMALL
    assert below.next_begin_offset == 10 * PER_FILE
    assert store.earliest_stored_at("T", 0) == NOON_MS
    assert store.offset_by_time("T", 0, NOON_MS - 1) == 10 * PER_FILE


def test_files_of_queue_and_index_follow_the_log() -> None:
    files = SomeFiles()
    store = filled(files)
    clean(store)
    queue = store.queues.table.get(("T", 0))
    assert queue is not None
    # Three units a file: unit 50 is the first that points into the log.
    assert queue.files.start == 48 * 20
    assert store.query("T", "k49", 9, 0, LATER_MS).records == ()
    assert len(store.query("T", "k50", 9, 0, LATER_MS).records) == 1
    indexed = 7
    assert len(files.names("index")) == -(-12 * PER_FILE // indexed) - 50 // indexed


def test_what_is_gone_stays_gone_after_a_crash() -> None:
    files = SomeFiles()
    store = filled(files)
    clean(store)
    again = killed(store, files)
    assert again.min_offset("T", 0) == 10 * PER_FILE
    assert again.max_offset("T", 0) == 12 * PER_FILE
    assert append_one(again, message(), LATER_MS).queue_offset == 12 * PER_FILE


def test_a_queue_without_messages_keeps_its_offsets_until_it_is_deleted() -> None:
    files = SomeFiles()
    store = started(files)
    files.now_ms = NOON_MS
    for number in range(3 * PER_FILE):
        append_one(store, message(body=bytes(90)), NOON_MS)
        if number == 0:
            append_one(store, message("Old"), NOON_MS)
    store.dispatch()
    clean(store)
    assert (store.min_offset("Old", 0), store.max_offset("Old", 0)) == (0, 1)
    assert store.get("Old", 0, 0, 1).status is GetMessageStatus.MESSAGE_WAS_REMOVING
    store.clean_service.delete_expired_queues()
    assert store.queues.table.get(("Old", 0)) is None
    assert store.queues.table.get(("T", 0)) is not None
    assert append_one(store, message("Old"), LATER_MS).queue_offset == 0


def test_a_full_disk_refuses_messages_until_it_is_less_full() -> None:
    files = SomeFiles()
    store = filled(files, 3 * PER_FILE)
    never = replace(ALWAYS, hours=frozenset())
    statuses = []
    for files.used in (75, 86, 91, 86, 85):
        clean(store, never, NOON_MS)
        statuses.append(append_one(store, message(), NOON_MS).status)
    refused, taken = PutStatus.SERVICE_NOT_AVAILABLE, PutStatus.PUT_OK
    assert statuses == [taken, taken, refused, refused, taken]


@pytest.mark.parametrize(("used", "left"), [(75, 3), (76, 3), (86, 1)])
def test_young_files_go_only_when_it_is_urgent(used: int, left: int) -> None:
    files = SomeFiles()
    files.used = used
    store = filled(files, 3 * PER_FILE)
    clean(store, replace(ALWAYS, hours=frozenset()), NOON_MS)
    assert len(store.log.files) == left


def test_a_stop_on_a_full_disk_looks_like_a_crash() -> None:
    files = SomeFiles()
    store = filled(files, PER_FILE)
    files.used = 91
    clean(store, ALWAYS, NOON_MS)
    store.stop()
    assert files.size("abort") is not None


def test_a_file_that_will_not_go_is_tried_again() -> None:
    files = SomeFiles()
    store = filled(files, 3 * PER_FILE)
    clean(store, ALWAYS, NOON_MS)  # it searches for such files and finds none
    files.refused = f"commitlog/{0:020}"
    clean(store)
    assert files.names("commitlog")[0] == f"{0:020}"
    files.refused = ""
    clean(store, now_ms=LATER_MS + ALWAYS.retry_ms)
    assert files.names("commitlog")[0] == f"{0:020}"
    clean(store, now_ms=LATER_MS + ALWAYS.retry_ms + 1)
    assert files.names("commitlog") == [f"{2048:020}"]


def test_a_file_that_cannot_be_deleted_keeps_no_other_queue_from_its_messages() -> None:
    files = SomeFiles()
    store = started(files)
    files.now_ms = NOON_MS
    for _ in range(3 * PER_FILE):
        for topic in ("A", "B"):
            append_one(store, message(topic, body=bytes(90)), NOON_MS)
    store.dispatch()
    files.refused = f"consumequeue/A/0/{0:020}"
    with pytest.raises(FilesError, match="A/0"):
        clean(store)
    assert [store.min_offset(topic, 0) for topic in ("A", "B")] == [13, 12]
    for topic in ("A", "B"):
        assert store.get(topic, 0, 0, 1).status is GetMessageStatus.OFFSET_TOO_SMALL


def test_a_reader_keeps_what_it_reads_and_then_the_disk_has_it_back(
    tmp_path: Path,
) -> None:
    store = MessageStore(DiskFiles(tmp_path), TINY, NOON_MS)
    for number in range(3 * PER_FILE):
        append_one(store, message(body=b"%090d" % number), NOON_MS)
    store.dispatch()
    response = store.get("T", 0, 0, 2)
    forced = replace(ALWAYS, hours=frozenset(range(24)), reserved_ms=-(2**60))
    clean(store, forced, NOON_MS)
    assert len(list((tmp_path / "commitlog").iterdir())) == 1
    assert b"%090d" % 0 in bytes(response.records[0])
    assert b"%090d" % 1 in bytes(response.records[1])
    assert _deleted_mappings(tmp_path) == 1
    del response
    assert _deleted_mappings(tmp_path) == 0
    store.stop()


def _deleted_mappings(folder: Path) -> int:
    """Return the number of deleted log files of *folder* that this process maps."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("this system does not tell what a process maps")
    lines = maps.read_text().splitlines()
    log = f"{folder}/commitlog/"
    return sum(log in line and line.endswith("(deleted)") for line in lines)
