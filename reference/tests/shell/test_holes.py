"""
Files in memory (tmpfs) whose holes have no space: an error in place of SIGBUS.

A file system without space stands for one here by its responses alone: mounting a small
one needs rights that tests do not have.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from reference.core.store.index.index_file import IndexFile
from reference.core.store.mapped.files import FilesError
from reference.shell.storage import disk, disk_space
from reference.shell.storage.disk import DiskFiles

MEGABYTE = 1 << 20


class Memory:
    """The free space of a file system in memory, as its calls report it."""

    def __init__(self, free: int) -> None:
        self.free = free

    def free_of(self, file_number: int) -> int:
        """Return the free bytes."""
        assert os.fstat(file_number).st_size
        return self.free

    def allocate(self, file_number: int, at: int, size: int) -> None:
        """Take space for a range, most of which is a hole, or fail."""
        assert at + size <= os.fstat(file_number).st_size
        if size > self.free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.free -= size


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Let all files be in memory, with the free space of the result."""
    space = Memory(3 * MEGABYTE)
    monkeypatch.setattr(disk_space, "is_in_memory", lambda _: True)
    monkeypatch.setattr(disk_space, "_free", space.free_of)
    monkeypatch.setattr(os, "posix_fallocate", space.allocate)
    return space


def with_holes(directory: Path, *names: str) -> DiskFiles:
    """Return a store's directory with sparse files of a megabyte each."""
    for name in names:
        with (directory / name).open("wb") as file:
            file.truncate(MEGABYTE)
    return DiskFiles(directory)


def test_holes_without_space_are_one_error(tmp_path: Path, memory: Memory) -> None:
    files = with_holes(tmp_path, "a", "b", "c", "d")
    opened = [files.open(name, MEGABYTE) for name in "abc"]
    with pytest.raises(FilesError, match=r"no space left .* holes beside .*d$"):
        files.open("d", MEGABYTE)
    for file in opened:
        file.close()
    assert memory.free == 2 * MEGABYTE


def test_files_with_space_for_their_holes_are_opened(
    tmp_path: Path, memory: Memory
) -> None:
    files = with_holes(tmp_path, "a", "b")
    for name in "ab":
        file = files.open(name, MEGABYTE)
        assert bytes(file.view[-4:]) == bytes(4)
        file.close()
    assert memory.free == 3 * MEGABYTE


def test_a_slot_without_space_is_an_empty_one(tmp_path: Path, memory: Memory) -> None:
    files = DiskFiles(tmp_path)
    index = IndexFile(files, "1", slot_count=100_000, item_count=10)
    index.put([(7, 0, 1_000)])
    assert list(index.find(7, 0, 2_000)) == [0]
    memory.free = 0
    assert list(index.find(90_000, 0, 2_000)) == []
    with pytest.raises(FilesError, match="no space left"):
        index.put([(90_000, 8, 1_000)])
    assert index.next_item == 2
    index.close()


def kind_of(path: Path) -> str:
    """Return the kind of the file system of *path*, from the list of mounts."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    kinds = {line.split(" ")[4]: line.partition(" - ")[2].split()[0] for line in lines}
    places = [path, *path.parents]
    return next((kinds[str(one)] for one in places if str(one) in kinds), "unknown")


def test_the_kind_of_a_file_system_is_known(tmp_path: Path) -> None:
    shared = Path("/dev/shm")  # noqa: S108
    is_tmpfs = kind_of(shared) in {"tmpfs", "devtmpfs"}
    assert disk_space.is_in_memory(shared) == is_tmpfs
    assert not disk_space.is_in_memory(Path("/proc/self"))
    assert disk.DiskFiles(tmp_path)._holes.is_needed == disk_space.is_in_memory(
        tmp_path
    )
