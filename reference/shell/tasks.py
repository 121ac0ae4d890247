"""Tasks of one owner on asyncio's event loop, which lets unowned tasks disappear."""

from __future__ import annotations

import asyncio


class Tasks:
    """Running tasks; a task leaves the set when it ends."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def run(self, work: asyncio._CoroutineLike[None]) -> None:
        """Run *work* as a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def cancel(self) -> None:
        """Cancel all tasks."""
        for task in self._running:
            task.cancel()

    async def wait(self) -> None:
        """Return when all tasks have ended."""
        if self._running:
            await asyncio.wait(self._running)
