"""
The read-only view of a store: names, sizes and bytes, and the files that a start loads.

A broker has its files' sizes in its configuration and does not start on others. Without
it, the distance of two names and the most frequent size decide (`inferred_options`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from msgspec.structs import replace

from reference.core.store.recovery.load import (
    DirectoryEntry,
    LoadPlan,
    describe_wrong_file,
    is_offset,
    plan_load,
)
from reference.core.store.recovery.rules import RecoveryRules, WrongSizeFilePolicy
from reference.core.store.types import StoreOptions
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, INDEX
from spec.store.index_file import (
    ITEMS_PER_SLOT,
    slot_count_of,
)
from spec.store.queue_extension import EXTENSION
from spec.store.timer.timer_log import TIMER_LOG


class ViewError(Exception):
    """The store cannot be read."""


class NotAFileError(ViewError):
    """A directory, pipe or device is in the place of a file."""


class StoreView(Protocol):
    """A store's directory, read-only. Paths are relative to it and use ``/``."""

    def entries(self, directory: str) -> list[DirectoryEntry]:
        """Return the entries of *directory* by name; an empty list without one."""

    def data(self, path: str) -> memoryview:
        """Return the bytes of the file *path*; ViewError if it cannot be read."""

    def written_size(self, path: str) -> int:
        """Return the position after the file's last byte that is not zero, or 0."""

    def text(self, path: str) -> str | None:
        """Return the text of the file *path*, None without one."""

    def exists(self, path: str) -> bool:
        """Return whether *path* exists."""

    def is_locked(self) -> bool:
        """Return whether a broker holds the lock of the store."""

    def count_read(self, size: int) -> None:
        """Count *size* more bytes as read, for the display of progress."""


class StartRefusedError(Exception):
    """The broker refuses to start, because of *file*."""

    def __init__(self, clause: str, file: str, reason: str) -> None:
        super().__init__(reason)
        self.clause = clause
        self.file = file
        self.reason = reason


def load_files(
    view: StoreView,
    directory: str,
    file_size: int,
    rules: RecoveryRules,
    clause: str | None = None,
) -> LoadPlan:
    """Plan the load of *directory*.

    Raise StartRefusedError for the file that prevents it, by default with the clause
    about its size or name. Raise ViewError for a file with a sign before its number,
    with which a broker starts and mixes up its files (Java: Long#parseLong).
    """
    plan = plan_load(view.entries(directory), file_size, rules)
    if plan.wrong_file is None:
        return plan
    if plan.wrong_file.size == file_size:
        if is_offset(plan.wrong_file.name[1:]) and plan.wrong_file.name[0] in "+-":
            path = f"{directory}/{plan.wrong_file.name}"
            raise ViewError(f"{path} is no broker's file: move it out of the store")
        clause = clause or "REC-LOAD-004"
    elif rules.wrong_size_file is WrongSizeFilePolicy.DELETE_EMPTY_LAST:
        clause = clause or "REC-LOAD-002"
    reason = describe_wrong_file(directory, plan.wrong_file, file_size)
    path = f"{directory}/{plan.wrong_file.name}"
    raise StartRefusedError(clause or "REC-LOAD-001", path, reason)


def inferred_options(view: StoreView) -> StoreOptions:
    """Return default options with the file sizes (bytes) inferred from *view*."""
    defaults = StoreOptions()
    log = seen_size([view.entries(COMMIT_LOG)])
    queues = seen_queue_file_size(view)
    timer = seen_size([view.entries(TIMER_LOG)])
    slots = slot_count_of(seen_size([view.entries(INDEX)], are_offsets=False))
    return replace(
        defaults,
        commit_log_file_size=log or defaults.commit_log_file_size,
        consume_queue_file_size=queues or defaults.consume_queue_file_size,
        timer_log_file_size=timer or defaults.timer_log_file_size,
        extension_file_size=seen_size(list(_queues(view, EXTENSION))),
        index_slot_count=slots or defaults.index_slot_count,
        index_item_count=slots * ITEMS_PER_SLOT or defaults.index_item_count,
    )


def seen_queue_file_size(view: StoreView) -> int:
    """Return the size (bytes) of the consume-queue files, 0 without any."""
    return seen_size(list(_queues(view, CONSUME_QUEUE)))


def seen_batch_file_size(view: StoreView) -> int:
    """Return the size (bytes) of the files of batch consume queues, 0 without any."""
    return seen_size(list(_queues(view, BATCH_QUEUE)))


def _queues(view: StoreView, directory: str) -> Iterator[list[DirectoryEntry]]:
    for topic in view.entries(directory):
        for queue in view.entries(f"{directory}/{topic.name}"):
            yield view.entries(f"{directory}/{topic.name}/{queue.name}")


def seen_size(
    rows: Sequence[Sequence[DirectoryEntry]], *, are_offsets: bool = True
) -> int:
    """Return the size (bytes) of the files in *rows*, one directory each, or 0."""
    files = [[one for one in row if one.size and is_offset(one.name)] for row in rows]
    votes = Counter(one.size for row in files for one in row)
    distances: Counter[int] = Counter()
    for row in files if are_offsets else ():
        bases = sorted(int(one.name) for one in row)
        distances.update(after - before for before, after in pairwise(bases))
    for size in distances:
        votes[size] += distances[size]
    return max(votes, key=lambda size: (votes[size], size or 0), default=0) or 0
