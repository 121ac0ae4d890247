"""Progress of commands that read a store, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def bytes_read(store: Path) -> Iterator[Callable[[int], None]]:
    """Yield a callback for the bytes read of *store*."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _size: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"reading {store.name}", total=None)
        yield lambda size: progress.advance(task, size)
