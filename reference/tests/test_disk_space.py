"""A mapped file has disk space for what is written, asked for before it is written."""

from __future__ import annotations

import errno
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.store.files import FilesError
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
