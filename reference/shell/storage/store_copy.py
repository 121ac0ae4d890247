"""
Copies of a store, which leave the original unchanged.

Regular files are copied with their times. Links are followed, so that a write to the
copy cannot reach the original. Zeros, as in preallocated files, become holes. Holes are
not read.
"""

from __future__ import annotations

import os
import shutil
import stat
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from columns.file_holes import ranges_with_data

_PIECE = 1 << 20


class CopyError(Exception):
    """The store cannot be copied."""


@contextmanager
def copied_store(store: Path, target: Path) -> Iterator[None]:
    """Copy *store* to *target*, a directory that is empty or does not exist.

    An error of the copy or of the block, or an interruption, removes the copy. Raises
    CopyError.
    """
    if target.resolve().is_relative_to(store.resolve()):
        raise CopyError(f"{target} lies in the store itself")
    if target.exists() and any(target.iterdir()):
        raise CopyError(f"{target} is not empty")
    with removed_on_failure(target):
        _copy(store, target)
        yield


@contextmanager
def removed_on_failure(target: Path) -> Iterator[None]:
    """Remove *target* if the block fails, and what the block has made above it.

    A directory that exists before, empty, is left empty.
    """
    made = [one for one in (target, *target.parents) if not os.path.lexists(one)]
    try:
        yield
    except BaseException as error:
        # Files that the block still has open may be as many as the process may open.
        traceback.clear_frames(error.__traceback__)
        written = target.iterdir() if target.is_dir() and not made else made[:1]
        for path in [*written]:
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):  # a directory, which is gone
                path.unlink()
        for path in made[1:]:
            with suppress(OSError):  # another process uses it
                path.rmdir()
        raise


def _copy(store: Path, target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        check_space(store, target)
        for path in _regular_files(store):
            to = target / path.relative_to(store)
            to.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(path, to)
    except OSError as error:
        reason = error.strerror or error
        raise CopyError(f"cannot copy {store} to {target}: {reason}") from error


def check_space(store: Path, target: Path) -> None:
    """Raise CopyError where the disk has less free space than the store takes."""
    needed = 0
    for path in _regular_files(store):
        found = path.stat()
        needed += min(found.st_size, getattr(found, "st_blocks", 1 << 52) * 512)
    free = shutil.disk_usage(target).free
    if needed > free:
        raise CopyError(f"{target} has {free:,} bytes free, the store takes {needed:,}")


def _regular_files(directory: Path) -> Iterator[Path]:
    """Return all files below *directory*; a link to a directory above is a loop."""
    seen = set()
    for place, names, files in os.walk(directory, followlinks=True):
        found = os.stat(place)
        if (found.st_dev, found.st_ino) in seen:
            names.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        for name in sorted(files):
            path = Path(place) / name
            if path.exists() and stat.S_ISREG(path.stat().st_mode):
                yield path


def _copy_file(path: Path, to: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as source, to.open("wb") as copy:
        number = source.fileno()
        for begin, end in ranges_with_data(number, 0, size):
            for at in range(begin, end, _PIECE):
                piece = os.pread(number, min(_PIECE, end - at), at)
                if piece.strip(b"\0"):
                    copy.seek(at)
                    copy.write(piece)
        copy.truncate(size)
    shutil.copystat(path, to)
