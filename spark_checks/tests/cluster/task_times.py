"""
Times and result sizes of an audit's tasks, from Spark's status store.

Spark's web page uses this store. Python has no other access to the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

TASKS_MAX = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Tasks of one stage."""

    id: int
    task_ms: tuple[int, ...]
    result_size: int
    """Bytes that its tasks sent to the driver, or wrote for the next stage."""

    @property
    def total_ms(self) -> int:
        """Sum of the task times."""
        return sum(self.task_ms)

    @property
    def skew(self) -> float:
        """Longest task, as a multiple of the median."""
        return max(self.task_ms) / max(median(self.task_ms), 1)


def stages(session: SparkSession, *, after: int = -1) -> list[Stage]:
    """Return the stages of *session* with an id above *after*."""
    java = session.sparkContext._jvm
    gateway = session.sparkContext._gateway
    assert java is not None
    assert gateway is not None
    context: Any = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    nothing = java.java.util.ArrayList()
    quantiles = gateway.new_array(java.double, 0)
    found = store.stageList(nothing, False, False, quantiles, nothing)
    listed = [found.apply(index) for index in range(found.size())]
    return [
        _stage(store, one.stageId(), one.attemptId())
        for one in sorted(listed, key=lambda one: int(one.stageId()))
        if one.stageId() > after and one.numCompleteTasks()
    ]


def _stage(store: Any, number: int, attempt: int) -> Stage:
    tasks = store.taskList(number, attempt, TASKS_MAX)
    metrics = [
        tasks.apply(index).taskMetrics().get()
        for index in range(tasks.size())
        if tasks.apply(index).taskMetrics().isDefined()
    ]
    return Stage(
        id=number,
        task_ms=tuple(one.executorRunTime() for one in metrics),
        result_size=sum(one.resultSize() for one in metrics),
    )
