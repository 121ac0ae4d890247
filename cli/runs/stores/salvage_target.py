"""
The directory of a salvaged store: written in a directory inside it, and then renamed.

An interrupted salvage leaves nothing that a broker or a command takes for a store. The
target may be the mount point of an empty disk, so nothing is written beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reference.shell.storage.store_copy import (
    CopyError,
    check_space,
    removed_on_failure,
)
from spec.store.file_names import COMMIT_LOG

PARTIAL = "salvage.partial"
"""Directory in the target, with the store until it is complete."""

PARTIAL_LOG = "commitlog.partial"
"""Directory of the new log until it has all messages."""


class SalvageError(Exception):
    """The new store cannot be written, or it is not complete."""


def check_target(store: Path, target: Path) -> None:
    """Raise SalvageError unless *target* is an empty directory or does not exist."""
    if target.resolve().is_relative_to(store.resolve()):
        raise SalvageError(f"{target} lies in the store itself")
    if (target / PARTIAL).exists():
        raise SalvageError(
            f"{target / PARTIAL} is left of a salvage that was killed; delete it"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SalvageError(f"{target} is not an empty directory")


@contextmanager
def partial_store(store: Path, target: Path) -> Iterator[Path]:
    """Yield a directory for the new store; rename its content to *target* at the end.

    An error or an interruption removes it. Only a kill leaves it. Raises SalvageError
    if the disk has no room for another *store*.
    """
    partial = target / PARTIAL
    try:
        with removed_on_failure(target):
            _make(partial, target)
            check_space(store, partial)
            yield partial
            # Without its log a directory is not a sound store, so the log comes last.
            for path in sorted(partial.iterdir(), key=_is_log):
                path.rename(target / path.name)
            partial.rmdir()
    except CopyError as error:
        raise SalvageError(str(error).replace(str(partial), str(target))) from None


def _make(partial: Path, target: Path) -> None:
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise SalvageError(f"{target} cannot be written: {error.strerror}") from error


def _is_log(path: Path) -> bool:
    return path.name == COMMIT_LOG
