"""
Put results when files fail, the system is busy, or a queue cannot grow.
"""

from __future__ import annotations

from msgspec import structs
from msgspec.structs import replace

from reference.core.store.mapped.files import FilesError
from reference.core.store.types import NewMessage, PutStatus
from reference.tests.memory_files import MemoryFile, MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
    wire_batch,
)

ONE_A_FILE = message(body=bytes(600))


class NoMoreFiles(MemoryFiles):
    """A disk that makes no more files below one of its directories."""

    refused = ""

    def open(self, path: str, size: int) -> MemoryFile:
        """Open a file that is there."""
        if self.refused and path.startswith(self.refused) and path not in self.mapped:
            raise FilesError(f"cannot make {path}")
        return super().open(path, size)


def test_without_a_file_nothing_is_stored_until_there_is_one() -> None:
    files = NoMoreFiles()
    store = started(files)
    assert append_one(store, ONE_A_FILE, NOON_MS).status is PutStatus.PUT_OK
    files.refused = "commitlog"
    batch = structs.replace(ONE_A_FILE, body=wire_batch(bytes(600)), is_batch=True)
    for one in (ONE_A_FILE, batch):
        result = append_one(store, one, NOON_MS)
        assert (result.status, result.is_stored) == (
            PutStatus.CREATE_FILE_FAILED,
            False,
        )
    files.refused = ""
    assert append_one(store, ONE_A_FILE, NOON_MS).queue_offset == 1
    store = killed(store, files)
    assert len(all_records(store, "T", 0)) == 2


def test_a_full_disk_refuses_whole_messages_and_loses_none() -> None:
    files = MemoryFiles(space=1500)
    store = started(files)
    stored: list[NewMessage] = []
    for number in range(20):
        one = message(body=b"%03d" % number)
        result = append_one(store, one, NOON_MS)
        if result.is_stored:
            stored.append(one)
        else:
            assert result.status is PutStatus.SERVICE_NOT_AVAILABLE
    assert 0 < len(stored) < 20
    files.space = None
    store = killed(store, files)
    found = [record.body for record in all_records(store, "T", 0)]
    assert found == [one.body for one in stored]


def test_a_queue_that_cannot_be_written_stops_the_store() -> None:
    files = NoMoreFiles()
    store = started(files)
    files.refused = "consumequeue"
    for _ in range(30):
        assert append_one(store, message(), NOON_MS).is_stored
        store.catch_up()
    result = append_one(store, message(), NOON_MS)
    assert result.status is PutStatus.SERVICE_NOT_AVAILABLE
    files.refused = ""
    assert len(store.catch_up()) == 30
    result = append_one(store, message(), NOON_MS)
    assert result.status is PutStatus.SERVICE_NOT_AVAILABLE
    store = killed(store, files)
    assert len(all_records(store, "T", 0)) == 30
    assert append_one(store, message(), NOON_MS).is_stored


def test_an_index_that_cannot_be_written_hides_messages() -> None:
    files = NoMoreFiles()
    store = started(files)
    files.refused = "index"
    for _ in range(40):
        assert append_one(store, message(properties="KEYS\x01k\x02"), NOON_MS).is_stored
        store.catch_up()
    assert store.max_offset("T", 0) == 1
    files.refused = ""
    store.catch_up()
    assert store.max_offset("T", 0) == 40
    assert len(store.query("T", "k", 64, 0, 2 * NOON_MS).records) == 40


def test_a_queue_that_is_written_late_stops_nothing() -> None:
    files = NoMoreFiles()
    store = started(files)
    for _ in range(3):
        files.refused = "consumequeue/T"
        append_one(store, message(), NOON_MS)
        for _ in range(20):
            store.catch_up()
        files.refused = ""
        assert store.catch_up() or store.max_offset("T", 0)
        store.catch_up()
    assert append_one(store, message(), NOON_MS).is_stored


def test_the_next_file_is_there_before_it_is_needed() -> None:
    files = NoMoreFiles()
    store = started(files, replace(TINY, preallocates_files=True))
    names = [f"{number * 1024:020}" for number in range(4)]
    assert files.names("commitlog") == []
    append_one(store, ONE_A_FILE, NOON_MS)
    assert files.names("commitlog") == names[:2]
    files.refused = "commitlog"
    assert append_one(store, ONE_A_FILE, NOON_MS).is_stored
    assert files.names("commitlog") == names[:2]
    assert append_one(store, ONE_A_FILE, NOON_MS).status is PutStatus.CREATE_FILE_FAILED
    files.refused = ""
    append_one(store, ONE_A_FILE, NOON_MS)
    assert files.names("commitlog") == names
    store = killed(store, files)
    assert files.names("commitlog") == names[:3]
    append_one(store, ONE_A_FILE, NOON_MS)
    assert files.names("commitlog") == [*names, f"{4 * 1024:020}"]
    store.stop()
    assert files.names("commitlog") == names
    assert len(all_records(started(files), "T", 0)) == 4
