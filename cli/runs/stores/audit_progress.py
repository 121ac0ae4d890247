"""
Progress of ``rmqc audit`` on a terminal: the step, its part done, rate and time left.

`following` reads from Spark how many tasks of the step are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from cli.runs.stores.task_progress import following

if TYPE_CHECKING:
    from pyspark import SparkContext

PARTS = 1000
"""Parts of a step whose number of bytes is unknown."""


class _Rate(ProgressColumn):
    """Bytes in a second, for steps that read a known number of bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._speed = TransferSpeedColumn()

    def render(self, task: Task) -> Text:
        """Return the rate of *task*; nothing as long as it is unknown."""
        is_known = task.fields["has_size"] and task.speed is not None
        return self._speed.render(task) if is_known else Text()


class AuditProgress:
    """Shows the steps of one audit after the other."""

    def __init__(self, progress: Progress | None, store_count: int) -> None:
        self._progress = progress
        self._store_count = store_count
        self._store = ""
        self._task = None if progress is None else progress.add_task("", has_size=False)

    def __call__(self, step: str, size: int | None = None, /) -> None:
        """Show *step*; *size* is the number of bytes that it reads."""
        if self._progress is None or self._task is None:
            return
        self._progress.reset(
            self._task,
            description=f"{self._store}{step}",
            total=size or PARTS,
            has_size=bool(size),
        )

    def begin_store(self, number: int) -> None:
        """Show that the next steps are about the store of this *number*, from 1."""
        if self._store_count > 1:
            self._store = f"store {number:,} of {self._store_count:,}: "

    def advance(self, done: float) -> None:
        """Show that this part of the step is *done*, from 0 to 1; never go back."""
        if self._progress is None or self._task is None:
            return
        task = self._progress.tasks[0]
        completed = max(task.completed, done * (task.total or 0))
        self._progress.update(self._task, completed=completed)

    @contextmanager
    def following(self, context: SparkContext) -> Iterator[None]:
        """Show the tasks that Spark has done, until the end of the block."""
        if self._progress is None:
            yield
            return
        with following(context, self.advance):
            yield


@contextmanager
def shown_progress(store_count: int) -> Iterator[AuditProgress]:
    """Yield the progress of audits of *store_count* stores, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield AuditProgress(None, store_count)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield AuditProgress(progress, store_count)
