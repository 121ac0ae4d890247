"""End of a run of pytest by Ctrl-C, or by a target that does not start.

pytest reports both with its own lines, the second one twice. The plugin of this module
ends the session without these lines, and the command prints one line instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from typing import Any

import pytest

from conformance.harness.pytest_plugin.verdicts.recorder import INTERRUPTED
from conformance.harness.report.run_record import Verdict


class RunEnd:
    """A pytest plugin that records the reason of an early end, and its progress."""

    def __init__(self) -> None:
        self.is_interrupted = False
        self.error = ""
        """Reason why the session did not start; empty if it did."""
        self._selected = 0
        self._tests: set[str] = set()
        self._config: pytest.Config | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Record why the session does not start, and end it."""
        self._config = session.config
        try:
            return (yield from self._interruptible())
        except pytest.exit.Exception as error:
            self.error = error.msg
            raise pytest.Session.Failed(error.msg) from None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        """End the collection of tests on Ctrl-C."""
        return (yield from self._interruptible())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """End the tests on Ctrl-C."""
        return (yield from self._interruptible())

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the number of tests of a run in this process."""
        self._selected = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Record the number of tests of a run with workers."""
        self._selected = len(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the test of *report*."""
        dumped = getattr(report, "conformance", None)
        if dumped is not None:
            self._tests.add(Verdict.load(dumped).test)

    def progress(self) -> str:
        """Return the number of finished tests."""
        if not self._selected:
            return "before the first test"
        return f"after {len(self._tests):,} of {self._selected:,} tests"

    def _interruptible(self) -> Generator[None, Any, Any]:
        """Run the hook. Record Ctrl-C, and end the session without pytest's lines."""
        try:
            return (yield)
        except pytest.Session.Interrupted:
            raise  # by pytest itself, for example after errors of the collection
        except KeyboardInterrupt:
            self.is_interrupted = True
            if self._config is not None:
                self._config.stash[INTERRUPTED] = f"interrupted {self.progress()}"
            # Pytest would raise errors for files and processes that are still open.
            warnings.simplefilter("ignore")
            raise pytest.Session.Failed("interrupted") from None
