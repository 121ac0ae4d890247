"""
Progress of commands, on a terminal only.

A wait is shown if it is long, and leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

DELAY_S = 2.0
"""Seconds of a wait before it is shown."""


def is_shown(output: TextIO) -> bool:
    """Return whether *output* is a terminal that shows progress, and not a log."""
    return output.isatty() and not os.environ.get("CI")


@contextmanager
def bytes_read(
    store: Path, total: int | None = None
) -> Iterator[Callable[[int], None]]:
    """Yield a callback for the bytes read of *store*, *total* if that is known."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _size: None
        return
    text = TextColumn("{task.description}", markup=False)
    columns = [text, BarColumn(bar_width=20), DownloadColumn(), TransferSpeedColumn()]
    if total is not None:
        columns.append(TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"reading {store.name}", total=total)
        yield lambda size: progress.advance(task, size)


@contextmanager
def parts_written(store: Path, count: int) -> Iterator[Callable[[], None]]:
    """Yield a callback for each of *count* equal parts of *store* that is written."""
    from rich.progress import BarColumn, TaskProgressColumn, TimeRemainingColumn

    columns = (BarColumn(bar_width=20), TaskProgressColumn(), TimeRemainingColumn())
    with _late_task(f"writing {store.name}", *columns, total=count) as advance:
        yield advance


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show *text* and the seconds that the block takes."""
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    with _late_task(text, TimeElapsedColumn(), before=(SpinnerColumn(),)):
        yield


@contextmanager
def _late_task(
    text: str,
    *columns: ProgressColumn,
    before: tuple[ProgressColumn, ...] = (),
    total: int | None = None,
) -> Iterator[Callable[[], None]]:
    """Show *text* among columns if the block takes long; yield a callback for parts.

    *total* is the number of parts, None for a wait without parts.
    """
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    if not is_shown(sys.stderr):
        yield lambda: None
        return
    shown = (*before, TextColumn("{task.description}", markup=False), *columns)
    progress = Progress(*shown, console=Console(stderr=True), transient=True)
    task = progress.add_task(text, total=total)
    with shown_late(progress):
        yield lambda: progress.advance(task)


@contextmanager
def announced_wait(text: str) -> Iterator[None]:
    """Print *text* once if the block takes long. The block may print lines, too."""
    if not is_shown(sys.stderr):
        yield
        return
    timer = Timer(DELAY_S, click.echo, [text], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def shown_late(progress: Progress) -> Iterator[None]:
    """Show *progress* if the block takes long."""
    timer = Timer(DELAY_S, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
