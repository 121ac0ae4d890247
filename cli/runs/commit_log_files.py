"""Commit-log files of a store, mapped to be read."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from reference.core.store.recovery.load import is_offset


def commit_log_files(directory: Path) -> list[tuple[int, Path]]:
    """Return begin offset and path of each file of a commit log that has bytes."""
    return sorted(
        (int(path.name), path)
        for path in directory.glob("*")
        if is_offset(path.name) and path.is_file() and path.stat().st_size
    )


@contextmanager
def mapped(path: Path, size_max: int = 0) -> Iterator[bytes]:
    """Yield the bytes of a file, mapped read-only, up to *size_max* unless it is 0."""
    size = min(path.stat().st_size, size_max) if size_max else 0
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data,
    ):
        yield cast(bytes, data)
