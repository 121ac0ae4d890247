"""A mapped file has disk space for what is written, asked for before it is written."""

from __future__ import annotations

import errno
import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.core.store.files import FilesError
from reference.shell import disk_space
from reference.shell.disk import DiskFile, DiskFiles

STRETCH = 1 << 14
SIZE = 4 * 1024 * 1024 + 100
Asked = list[tuple[int, int]]
"""Begin and end of what the disk was asked to keep, in the order of asking."""


def opened(
    directory: Path, patch: pytest.MonkeyPatch, most: int
) -> tuple[DiskFile, Asked]:
    """Return a file on a disk that gives at most *most* bytes at a time."""
    asked: Asked = []

    def allocate(_: int, start: int, size: int) -> None:
        if size > most:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        asked.append((start, start + size))

    patch.setattr(os, "posix_fallocate", allocate)
    return DiskFiles(directory).open("file", SIZE), asked


def test_a_file_that_grows_asks_seldom_and_for_little_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, asked = opened(tmp_path, monkeypatch, SIZE)
    for at in range(0, 4 * 1024 * 1024, 1024):
        file.write(b"x" * 1024, at)
        end = max(end for _, end in asked)
        assert at + 1024 <= end <= (at + 1024) * 9 // 8 + 2 * STRETCH
    assert len(asked) < 50
    for (_, end), (begin, _) in pairwise(asked):
        assert end - STRETCH <= begin <= end
    file.close()


def test_a_disk_that_is_nearly_full_is_asked_for_no_more_than_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, asked = opened(tmp_path, monkeypatch, 2 * STRETCH)
    for at in range(0, 2 * 1024 * 1024, 1024):
        file.write(b"x" * 1024, at)
    assert max(end - begin for begin, end in asked) <= 2 * STRETCH
    with pytest.raises(FilesError, match="no space left on the disk"):
        file.write(bytes(3 * STRETCH), 3 * 1024 * 1024)
    assert bytes(file.view[3 * 1024 * 1024 :][:4]) == bytes(4)
    file.close()


@given(
    places=st.lists(
        st.tuples(st.integers(0, SIZE - 1), st.integers(1, 40_000)), max_size=30
    )
)
@settings(max_examples=50, deadline=None)
def test_whatever_is_written_has_been_asked_for(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        file, asked = opened(tmp_path_factory.mktemp("disk"), patch, SIZE)
        for at, size in places:
            end = min(at + size, SIZE)
            file.write(b"x" * (end - at), at)
            kept = {
                n
                for begin, end in asked
                for n in range(begin // STRETCH, -(-end // STRETCH))
            }
            assert kept >= set(range(at // STRETCH, -(-end // STRETCH)))
        assert all(0 <= begin < end <= SIZE for begin, end in asked)
        file.close()


def fill(file: DiskFile) -> None:
    """Write all of a file, a little at a time."""
    for at in range(0, SIZE - 1024, 1024):
        file.write(b"x" * 1024, at)


STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 60_000)), max_size=60)


@given(steps=STEPS, before=st.integers(0, SIZE))
@example([(True, 60_000)] * 40, 0)
@example([(True, 60_000)] * 30, 100_000)
def test_what_another_thread_makes_ready_is_never_written_over(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[bool, int]],
    before: int,
) -> None:
    directory = tmp_path_factory.mktemp("disk")
    expected = bytearray(b"o" * before + bytes(SIZE - before))
    (directory / "file").write_bytes(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_space, "_AHEAD_MAX", 2)
        patch.setattr(disk_space, "_COMING", 2)
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


def test_a_file_that_grows_fast_has_its_next_stretches_made_by_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_COMING", 2)
    made_by: list[str] = []
    allocate = os.posix_fallocate

    def noting(number: int, start: int, size: int) -> None:
        made_by.append(threading.current_thread().name)
        allocate(number, start, size)

    monkeypatch.setattr(os, "posix_fallocate", noting)
    file = DiskFiles(tmp_path).open("file", SIZE)
    fill(file)
    file.close()
    own = threading.current_thread().name
    assert made_by.count(own) < 20
    assert len(made_by) - made_by.count(own) > 100


def test_what_the_other_thread_is_refused_is_asked_for_again_and_told_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_COMING", 2)
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
    assert limit - STRETCH <= len(written) <= limit
    file.close()


def test_who_writes_to_stretches_that_are_on_their_way_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "_AHEAD_MAX", 2)
    monkeypatch.setattr(disk_space, "_COMING", 2)
    has_begun, may_go_on = threading.Event(), threading.Event()
    write, own = os.pwrite, threading.current_thread()

    def held(number: int, data: bytes, at: int) -> int:
        if threading.current_thread() is not own:
            has_begun.set()
            may_go_on.wait(0.2)  # or else who waits would wait for ever
        return write(number, data, at)

    monkeypatch.setattr(os, "pwrite", held)
    file, at = DiskFiles(tmp_path).open("file", SIZE), 0
    while at < 20 * STRETCH and not has_begun.is_set():
        file.write(b"x" * 1024, at)
        at += 1024
        if file._space._coming is not None:
            assert has_begun.wait(timeout=30)
    assert has_begun.is_set()
    file.write(b"x" * 4 * STRETCH, at)
    may_go_on.set()
    file.close()
    data = (tmp_path / "file").read_bytes()
    assert data.rstrip(b"\0") == b"x" * (at + 4 * STRETCH)
