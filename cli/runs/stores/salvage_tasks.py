"""
The new commit log of a salvage, written by Spark tasks with a shared directory.

Tasks first count the runs of each file of the original. Added in the order of the log,
they are the queue offsets that the tasks need that write the new files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from pyspark import SparkContext  # a missing Spark is named, not a part of it

from cli.runs.stores.salvage_log import (
    NewFile,
    OriginalFile,
    count_file,
    runs_of_file,
    write_file,
)
from cli.runs.stores.task_progress import following
from reference.core.salvage.queue_offsets import QueueOffsets
from spark_checks.session.worker_archive import OWN

TASKS_EACH = 4
"""Tasks of one job per processor. The driver holds the queue offsets of its files."""
PACKAGES = (*OWN, "reference", "cli")
"""Packages of this project that the workers of a cluster need."""
Item = TypeVar("Item")
Result = TypeVar("Result")


def write_log_by_tasks(
    context: SparkContext,
    log: Path,
    files: Sequence[OriginalFile],
    offsets: QueueOffsets,
    progress: Callable[[int], None],
) -> Iterator[NewFile]:
    """Write the new *files* into the directory *log*; yield the result of each.

    *offsets* get those of all records. *progress* receives the bytes read: half of a
    file's when it is counted, and half when it is written.
    """
    step = context.defaultParallelism * TASKS_EACH
    for begin in range(0, len(files), step):
        some = files[begin : begin + step]
        before: list[QueueOffsets] = []
        half = sum(file.size for file in some) // 2
        runs = _each_by_task(context, runs_of_file, some, progress, half)
        for file, found in zip(some, runs, strict=True):
            before.append(offsets.part(found.queues))
            if found.may_lose_op_messages(offsets):
                count_file(file, offsets)
            else:
                found.add_to(offsets)
        pairs = list(zip(some, before, strict=True))
        yield from _each_by_task(
            context, partial(_write_with, log), pairs, progress, half
        )


def _write_with(log: Path, one: tuple[OriginalFile, QueueOffsets]) -> NewFile:
    return write_file(log, *one)


def _each_by_task(
    context: SparkContext,
    function: Callable[[Item], Result],
    items: Sequence[Item],
    progress: Callable[[int], None],
    size: int,
) -> Iterator[Result]:
    """Yield the result of *function* for each of *items*, made by a task each.

    *progress* receives a part of the *size* in bytes with each task that is done.
    """
    reported = 0

    def advance(part: float) -> None:
        nonlocal reported
        done = max(int(part * size), reported)
        progress(done - reported)
        reported = done

    tasks = context.parallelize(items, len(items))
    with following(context, advance):
        results = tasks.map(partial(_tried, function)).collect()
    advance(1)
    for found in results:
        if isinstance(found, OSError):
            raise found
        yield found


def _tried(function: Callable[[Item], Result], item: Item) -> Result | OSError:
    """Return the result of *function*, or an error that no second attempt mends."""
    try:
        return function(item)
    except OSError as error:
        return error
