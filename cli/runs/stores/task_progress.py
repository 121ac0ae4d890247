"""Done tasks of Spark's active stages, read while a job runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

PAUSE_S = 0.5
"""Seconds between two reads of Spark's counts."""


@contextmanager
def following(
    context: SparkContext, advance: Callable[[float], None]
) -> Iterator[None]:
    """Call *advance* with the part of the tasks that are done, from 0 to 1.

    A thread does so twice a second, until the end of the block.
    """
    # Here, so that a base without Spark can describe the options of a command.
    from py4j.protocol import Py4JError

    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(PAUSE_S):
            try:
                advance(_part_done(context))
            except (Py4JError, OSError):  # Spark was stopped, or killed
                return

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _part_done(context: SparkContext) -> float:
    """Return the part of the active stages' tasks that are done."""
    tracker = context.statusTracker()
    stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
    counts = [
        (stage.numCompletedTasks, stage.numTasks)
        for stage in stages
        if stage is not None
    ]
    total = sum(count for _, count in counts)
    return sum(done for done, _ in counts) / total if total else 0.0
