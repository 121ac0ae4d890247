"""Disk space of a mapped file is allocated before it is written."""

from __future__ import annotations

import errno
import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.core.store.mapped.files import FilesError
from reference.shell.storage import disk_space
from reference.shell.storage.disk import DiskFile, DiskFiles

BLOCK = 1 << 14
SIZE = 4 * 1024 * 1024 + 100
Allocated = list[tuple[int, int]]
"""Begin and end of the allocations, in order."""


def open_file(
    directory: Path, patch: pytest.MonkeyPatch, most: int
) -> tuple[DiskFile, Allocated]:
    """Return a file on a disk that allocates at most *most* bytes per request."""
    allocated: Allocated = []

    def allocate(_: int, start: int, size: int) -> None:
        if size > most:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocated.append((start, start + size))

    patch.setattr(os, "posix_fallocate", allocate)
    return DiskFiles(directory).open("file", SIZE), allocated


def test_a_growing_file_allocates_rarely_and_little_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, allocated = open_file(tmp_path, monkeypatch, SIZE)
    for at in range(0, 4 * 1024 * 1024, 1024):
        file.write(b"x" * 1024, at)
        end = max(end for _, end in allocated)
        assert at + 1024 <= end <= (at + 1024) * 9 // 8 + 2 * BLOCK
    assert len(allocated) < 50
    for (_, end), (begin, _) in pairwise(allocated):
        assert end - BLOCK <= begin <= end
    file.close()


def test_a_nearly_full_disk_allocates_the_needed_blocks_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, allocated = open_file(tmp_path, monkeypatch, 2 * BLOCK)
    for at in range(0, 2 * 1024 * 1024, 1024):
        file.write(b"x" * 1024, at)
    assert max(end - begin for begin, end in allocated) <= 2 * BLOCK
    with pytest.raises(FilesError, match="no space left on the disk"):
        file.write(bytes(3 * BLOCK), 3 * 1024 * 1024)
    assert bytes(file.view[3 * 1024 * 1024 :][:4]) == bytes(4)
    file.close()


@given(
    places=st.lists(
        st.tuples(st.integers(0, SIZE - 1), st.integers(1, 40_000)), max_size=30
    )
)
@settings(max_examples=50, deadline=None)
def test_each_written_byte_was_allocated(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        file, allocated = open_file(tmp_path_factory.mktemp("disk"), patch, SIZE)
        for at, size in places:
            end = min(at + size, SIZE)
            file.write(b"x" * (end - at), at)
            kept = {
                n
                for begin, end in allocated
                for n in range(begin // BLOCK, -(-end // BLOCK))
            }
            assert kept >= set(range(at // BLOCK, -(-end // BLOCK)))
        assert all(0 <= begin < end <= SIZE for begin, end in allocated)
        file.close()


def fill(file: DiskFile) -> None:
    """Write all of a file in pieces of a KiB."""
    for at in range(0, SIZE - 1024, 1024):
        file.write(b"x" * 1024, at)


STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 60_000)), max_size=60)


@given(steps=STEPS, before=st.integers(0, SIZE))
@example([(True, 60_000)] * 40, 0)
@example([(True, 60_000)] * 30, 100_000)
def test_blocks_of_the_other_thread_keep_their_content(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[bool, int]],
    before: int,
) -> None:
    directory = tmp_path_factory.mktemp("disk")
    expected = bytearray(b"o" * before + bytes(SIZE - before))
    (directory / "file").write_bytes(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_space, "_AHEAD_MAX", 2)
        patch.setattr(disk_space, "_BACKGROUND_BLOCKS", 2)
        file, at = DiskFiles(directory).open("file", SIZE), before // 2
        for is_next, size in steps:
            start = at if is_next else (at * 7 + size) % SIZE
            end = min(start + size, SIZE)
            file.write(b"x" * (end - start), start)
            expected[start:end] = b"x" * (end - start)
            at = end if is_next else at
        assert bytes(file.view) == expected
        file.close()
    assert (directory / "file").read_bytes() == expected


def test_the_next_blocks_of_a_fast_growing_file_come_from_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_BACKGROUND_BLOCKS", 2)
    threads: list[str] = []
    allocate = os.posix_fallocate

    def record(number: int, start: int, size: int) -> None:
        threads.append(threading.current_thread().name)
        allocate(number, start, size)

    monkeypatch.setattr(os, "posix_fallocate", record)
    file = DiskFiles(tmp_path).open("file", SIZE)
    fill(file)
    file.close()
    own = threading.current_thread().name
    assert threads.count(own) < 20
    assert len(threads) - threads.count(own) > 100


def test_an_error_of_the_other_thread_is_raised_by_the_write_that_needs_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_BACKGROUND_BLOCKS", 2)
    limit = SIZE // 2
    allocate = os.posix_fallocate

    def full(number: int, start: int, size: int) -> None:
        if start + size > limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocate(number, start, size)

    monkeypatch.setattr(os, "posix_fallocate", full)
    file = DiskFiles(tmp_path).open("file", SIZE)
    with pytest.raises(FilesError, match="no space left on the disk"):
        fill(file)
    written = bytes(file.view).rstrip(b"\0")
    assert limit - BLOCK <= len(written) <= limit
    file.close()


def test_a_write_to_blocks_in_allocation_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_BACKGROUND_BLOCKS", 2)
    has_begun, may_go_on = threading.Event(), threading.Event()
    write, own = os.pwrite, threading.current_thread()

    def held(number: int, data: bytes, at: int) -> int:
        if threading.current_thread() is not own:
            has_begun.set()
            may_go_on.wait(0.2)  # a limit, as the writer waits for this thread
        return write(number, data, at)

    monkeypatch.setattr(os, "pwrite", held)
    file, at = DiskFiles(tmp_path).open("file", SIZE), 0
    while at < 20 * BLOCK and not has_begun.is_set():
        file.write(b"x" * 1024, at)
        at += 1024
        if file._space._background is not None:
            assert has_begun.wait(timeout=30)
    assert has_begun.is_set()
    file.write(b"x" * 4 * BLOCK, at)
    may_go_on.set()
    file.close()
    data = (tmp_path / "file").read_bytes()
    assert data.rstrip(b"\0") == b"x" * (at + 4 * BLOCK)
