"""
Progress of ``rmqc test`` on a terminal: finished tests, rate and remaining time.

It replaces pytest's letters. Where the output is not a terminal, a long run writes a
line each minute. A short run writes nothing before its end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TextIO

import pytest
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from cli.options.progress import is_shown, shown_late
from conformance.harness.report.terminal.line_width import line_width, wrapped_at

DESELECTED = "deselected"
"""pytest's word for tests that are not selected."""
XDIST, XDIST_REPORTER = "dsession", "terminaldistreporter"
"""Plugins of pytest-xdist that report workers that start."""
LINE_PERIOD_S = 60.0
"""Seconds between two lines of a run whose output is not a terminal."""


class _Rate(ProgressColumn):
    """Tests in a second."""

    def render(self, task: Task) -> Text:
        """Return the rate of *task*; nothing as long as it is unknown."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class RunProgress:
    """A pytest plugin that shows the finished tests of a run."""

    def __init__(
        self, progress: Progress | None = None, *, log: TextIO | None = None
    ) -> None:
        self._progress = progress
        self._log = log
        self._total = 0
        self._finished: set[str] = set()
        self._began_s = self._written_s = time.monotonic()
        self._shown = ExitStack()
        if progress is not None:
            progress.add_task("starting", total=None)
            self._shown.enter_context(shown_late(progress))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(
        self, session: pytest.Session
    ) -> Generator[None, None, None]:
        """End the progress where the output of tests is written.

        A wrapper runs before the hook that starts the target.
        """
        config = session.config
        if config.option.verbose >= 0 or config.option.capture == "no":
            self.stop()
        else:
            _silence_workers(config.pluginmanager)
            reporter = config.pluginmanager.getplugin("terminalreporter")
            reporter.summary_stats = partial(self._write_counts, reporter)
        yield

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Report a worker that ended by itself."""
        if error and node.config.option.verbose < 0:
            reporter = node.config.pluginmanager.getplugin("terminalreporter")
            reporter.write_line(f"worker {node.gateway.id} ended: {error}", red=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(
        self, config: pytest.Config
    ) -> Generator[None, Any, Any]:
        """Leave out the letter of an outcome, without ``-v``."""
        status = yield
        if config.option.verbose < 0 and status is not None:
            return status[0], "", ""
        return status

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Show the number of tests of a run in this process."""
        self._count(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Show the number of tests of a run with workers."""
        self._count(len(ids))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Count the test *nodeid*, which may run twice."""
        self._finished.add(nodeid)
        self._update()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """End the progress before the end of the run is written."""
        self.stop()

    def stop(self) -> None:
        """End the progress."""
        self._shown.close()
        self._progress = self._log = None

    def _write_counts(self, reporter: pytest.TerminalReporter) -> None:
        """Write the last line of a run, in place of pytest's."""
        parts, colour = reporter.build_summary_stats_line()
        counts = ", ".join(text for text, _ in parts).replace(
            DESELECTED, "not selected"
        )
        duration = _minutes(time.monotonic() - self._began_s)
        width = line_width(is_terminal=bool(reporter.isatty))
        line = wrapped_at(width, f"tests    {counts} in {duration}")
        for part in line.split("\n"):
            reporter.write_line(part, **{colour: True})

    def _count(self, total: int) -> None:
        """Set the number of tests; the process that starts workers has none itself."""
        self._total = total or self._total
        self._update()

    def _update(self) -> None:
        done, total = len(self._finished), self._total
        if self._progress is not None and total:
            task = self._progress.task_ids[0]
            self._progress.update(
                task, description="tests", total=total, completed=done
            )
        now_s = time.monotonic()
        if self._log is not None and now_s - self._written_s >= LINE_PERIOD_S:
            self._written_s = now_s
            duration_s = now_s - self._began_s
            line = f"tests    {done:,} of {total:,} in {_minutes(duration_s)}"
            if 0 < done < total:
                left_s = duration_s * (total - done) / done
                line += f", about {_minutes(left_s)} left"
            print(line, file=self._log)


def _minutes(duration_s: float) -> str:
    minutes, seconds = divmod(round(duration_s), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _silence_workers(plugins: pytest.PytestPluginManager) -> None:
    """Remove the lines about workers that start: pytest-xdist has no option for it."""
    reporter = plugins.getplugin(XDIST_REPORTER)
    if reporter is not None:
        plugins.unregister(reporter)
        plugins.getplugin(XDIST).terminal = None


@contextmanager
def run_progress() -> Iterator[RunProgress]:
    """Yield the plugin of one run; its progress is on standard error."""
    try:
        # pytest captures the descriptor of standard error while a test runs.
        own = os.dup(sys.stderr.fileno())
    except OSError:  # a text of a program that embeds the command
        yield RunProgress()
        return
    with os.fdopen(own, "w", 1, encoding="utf-8") as file:
        if not is_shown(sys.stderr):
            yield RunProgress(log=file)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
        )
        # pytest writes to the real standard output, which rich would replace.
        progress = Progress(
            *columns,
            console=Console(file=file),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        plugin = RunProgress(progress)
        try:
            yield plugin
        finally:
            plugin.stop()
