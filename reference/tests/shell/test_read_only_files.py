"""A store's directory that is opened read-only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.store_view import ViewError
from reference.core.store.recovery.rules import REFERENCE
from reference.core.store.types import StoreOptions
from reference.shell.storage import mapping, read_only_files
from reference.shell.storage.read_only_files import ReadOnlyStore

SIZE = 1 << 30
PAGE, FEW = 1 << 12, 1 << 16
QUEUE_SIZE = 6_000_000
RANDOM_READS = "rr"
"""Flag of a mapping from which the system does not read ahead."""


def mapped_as(file: Path, member: str) -> list[str]:
    """Return the words of a *member* of the mapping of *file* (Linux: smaps)."""
    mappings = Path("/proc/self/smaps").read_text("utf-8").partition(str(file))[2]
    return mappings.partition(f"{member}:")[2].partition("\n")[0].split()


def test_the_end_of_a_sparse_log_is_found_without_its_holes(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    with (tmp_path / "commitlog" / f"{0:020d}").open("wb") as file:
        file.write(bytes(9_999) + b"\1")
        file.truncate(SIZE)
    read: list[int] = []
    log = LogState(ReadOnlyStore(tmp_path, read.append), SIZE, REFERENCE)
    log.load()
    assert log.end_on_disk == 10_000
    assert sum(read) <= 1 << 23


def test_the_end_of_a_sparse_queue_is_found_without_its_holes(tmp_path: Path) -> None:
    directory = tmp_path / "consumequeue" / "Topic" / "0"
    directory.mkdir(parents=True)
    for number in range(2):
        with (directory / f"{number * QUEUE_SIZE:020d}").open("wb") as file:
            file.write(bytes(7) + b"\1")  # the rest of the unit is 0
            file.truncate(QUEUE_SIZE)
    store = ReadOnlyStore(tmp_path)
    options = StoreOptions(consume_queue_file_size=QUEUE_SIZE)
    queues = QueuesState(store, options, REFERENCE)
    queues.load()
    queue = queues.get("Topic", 0)
    assert queue is not None
    assert queue.end_before == QUEUE_SIZE + 20
    (resident,) = mapped_as(directory / f"{QUEUE_SIZE:020d}", "Rss")[:1]
    assert int(resident) * 1024 <= FEW


def test_a_file_deleted_behind_the_listing_is_an_error_of_the_view(
    tmp_path: Path,
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (index / "1").write_bytes(b"1")
    store = ReadOnlyStore(tmp_path)
    assert [one.name for one in store.entries("index")] == ["1"]
    (index / "1").unlink()
    with pytest.raises(ViewError, match="index/1 cannot be read: No such file"):
        store.data("index/1")


def test_files_stay_mapped_without_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(number) for number in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    mapped: list[int] = []
    map_file = mapping.read_only_map

    def noted(descriptor: int, size: int, *, is_in_memory: bool) -> object:
        mapped.append(size)
        return map_file(descriptor, size, is_in_memory=is_in_memory)

    monkeypatch.setattr(read_only_files, "read_only_map", noted)
    store = ReadOnlyStore(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        assert [bytes(store.data(name)) for name in names] == [*map(str.encode, names)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert mapped == [len(name) for name in names]


@pytest.mark.parametrize("size", [PAGE, FEW, FEW + PAGE])
def test_few_bytes_are_read_without_the_holes_around_them(
    size: int, tmp_path: Path
) -> None:
    file = tmp_path / "queue"
    file.write_bytes(b"a" * size)
    os.truncate(file, QUEUE_SIZE)
    store = ReadOnlyStore(tmp_path)
    assert store.written_size("queue") == size
    assert bytes(store.data("queue")[:PAGE]) == b"a" * PAGE
    assert (RANDOM_READS in mapped_as(file, "VmFlags")) is (size <= FEW)
