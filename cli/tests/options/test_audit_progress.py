"""Progress of an audit on a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.progress import Progress

from cli.runs.stores.audit_progress import AuditProgress


def test_a_step_advances_by_tasks_done_and_never_goes_back() -> None:
    shown = Progress(console=Console(file=StringIO(), force_terminal=True))
    progress = AuditProgress(shown, 2)
    progress.begin_store(2)
    progress("reading 4,000 bytes", 4_000)
    for done in (0.25, 0.75, 0.5):
        progress.advance(done)
    task = shown.tasks[0]
    assert task.description == "store 2 of 2: reading 4,000 bytes"
    assert (task.completed, task.total) == (3_000, 4_000)
    progress("comparing")
    assert (shown.tasks[0].completed, shown.tasks[0].percentage) == (0, 0)
