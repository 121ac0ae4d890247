"""Progress of the tasks of ``rmqc salvage --master``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from cli.runs.stores import salvage_tasks, task_progress

SIZE = 4000


def test_bytes_are_reported_while_tasks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_progress, "PAUSE_S", 0.01)
    sizes: list[int] = []
    is_reported = Event()

    def progress(size: int) -> None:
        if size:
            sizes.append(size)
            is_reported.set()

    class Job:
        """A job of four tasks, which ends when progress of its first is reported."""

        def map(self, function: Callable[[int], object]) -> Job:
            self.function = function
            return self

        def collect(self) -> list[object]:
            assert is_reported.wait(10), "no progress before the end of the job"
            return [self.function(one) for one in range(4)]

    def parallelize(items: Sequence[int], _count: int) -> Job:
        assert len(items) == 4
        return Job()

    stage = SimpleNamespace(numCompletedTasks=1, numTasks=4)
    tracker = SimpleNamespace(
        getActiveStageIds=lambda: [0], getStageInfo=lambda _number: stage
    )
    context: Any = SimpleNamespace(
        parallelize=parallelize, statusTracker=lambda: tracker
    )
    found = salvage_tasks._each_by_task(context, str, range(4), progress, SIZE)
    assert list(found) == [*"0123"]
    assert sizes == [SIZE // 4, SIZE - SIZE // 4]
