"""Commit-log files of a store, mapped to be read, and the records in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from reference.core.recovery_forecast.store_view import seen_size
from reference.core.salvage.readable_records import DamagedRange, readable_records
from reference.core.store.recovery.load import DirectoryEntry, is_offset
from reference.shell.storage.disk_space import is_in_memory
from reference.shell.storage.mapping import read_only_map
from spec.store.epoch_file import EPOCH_FILE
from spec.store.failover import Stretch, cut_place
from spec.store.file_names import COMMIT_LOG
from spec.store.message_record import MAGIC_V1, MAGIC_V2, SMALLEST_SIZE

_ZEROS = bytes(1 << 20)
_MAGICS = {magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2)}


def commit_log_files(directory: Path) -> list[tuple[int, Path]]:
    """Return begin offset and path of each file of a commit log that has bytes.

    Raises OSError for a directory that cannot be read.
    """
    return sorted(
        (int(path.name), path)
        for path in _entries(directory)
        if is_offset(path.name) and path.is_file() and path.stat().st_size
    )


def log_size(store: Path) -> int:
    """Return the bytes of the commit log of *store*, without the preallocated file."""
    files = without_preallocated(commit_log_files(store / COMMIT_LOG))
    return sum(path.stat().st_size for _, path in files)


def without_preallocated(files: list[tuple[int, Path]]) -> list[tuple[int, Path]]:
    """Return *files* up to the last that is not all zeros, and at least the first.

    A broker creates the next file before it needs it (Java: AllocateMappedFileService).
    """
    count = len(files)
    while count > 1 and _is_zeros(files[count - 1][1]):
        count -= 1
    return files[:count]


def size_before_cut(store: Path, last: tuple[int, Path], size: int) -> int:
    """Return the bytes of the *last* file before the place where a failover cut it.

    It is *size*, that of a whole file, unless the broker was in controller mode.
    """
    base, path = last
    if not (store / EPOCH_FILE).is_file():
        return size
    with mapped(path, size) as data:
        place = cut_place(
            found.begin
            if isinstance(found, DamagedRange)
            else Stretch(found.record.stored_at_ms, found.record.stored_at_ms)
            for found in readable_records(data, base, is_last=True)
        )
    return size if place is None else place - base


def _is_zeros(path: Path) -> bool:
    with mapped(path) as data:
        pieces = range(0, len(data), len(_ZEROS))
        return all(_ZEROS.startswith(data[at : at + len(_ZEROS)]) for at in pieces)


def file_size_of(files: list[tuple[int, Path]]) -> int:
    """Return the size of a log's files in bytes, which single files may not have."""
    entries = [DirectoryEntry(path.name, path.stat().st_size) for _, path in files]
    return seen_size([entries])


def too_long_files(files: list[tuple[int, Path]], size: int) -> list[str]:
    """Return one line for each file with more than *size* bytes."""
    sizes = [(path, path.stat().st_size) for _, path in files]
    return [
        f"{path.parent.name}/{path.name} is too long: its bytes behind {size:,} are not"
        " read"
        for path, found in sizes
        if found > size
    ]


def unreadable_entries(directory: Path) -> list[str]:
    """Return one line for each entry that is only named as a commit-log file.

    A directory or a broken link may be in the place of a file that has messages.
    """
    found = sorted(path for path in _entries(directory) if is_offset(path.name))
    return [
        f"{directory.name}/{path.name} is {kind_of(path)}: its messages are missing"
        for path in found
        if not path.is_file()
    ]


def special_entry(directory: Path) -> Path | None:
    """Return a pipe, socket or device that is named as a commit-log file, or None."""
    return next(
        (
            path
            for path in sorted(_entries(directory))
            if is_offset(path.name)
            and path.exists()
            and not (path.is_file() or path.is_dir())
        ),
        None,
    )


def _entries(directory: Path) -> Iterator[Path]:
    """Return the entries of *directory*, none if it is missing.

    `Path.glob` has no entries of a directory that it may not read, without an error.
    """
    return directory.iterdir() if directory.is_dir() else iter(())


def kind_of(path: Path) -> str:
    """Return the kind of an entry that is not a file, in words."""
    return "a directory" if path.is_dir() else "a broken link"


@contextmanager
def mapped(path: Path, size_max: int = 0) -> Iterator[bytes]:
    """Yield the bytes of a file, mapped read-only, up to *size_max* unless it is 0."""
    size = path.stat().st_size
    if not size:  # mmap refuses an empty file
        yield b""
        return
    with path.open("rb") as file:
        length = min(size, size_max) if size_max else size
        data = read_only_map(file.fileno(), length, is_in_memory=is_in_memory(path))
    try:
        yield cast(bytes, data)
    finally:
        # An exception such as Ctrl-C has frames with views of the bytes. The map is
        # released with the last of them.
        with suppress(BufferError):
            data.close()


def record_around(path: Path, position: int) -> int | None:
    """Return the begin of the record that has *position* inside, or None.

    The records are followed from the begin of the file, up to the first damage.
    """
    at = 0
    with mapped(path) as data:
        while at < position and data[at + 4 : at + 8] in _MAGICS:
            size = int.from_bytes(data[at : at + 4], "big", signed=True)
            if size < SMALLEST_SIZE:
                return None
            if at + size > position:
                return at
            at += size
    return None
