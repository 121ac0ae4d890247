"""Report at the end of a run: tests that detected their fault only on a retry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

LOOKS = "looks"
"""Property of a test: the number of its attempts."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests with more than one attempt: they are weak."""
    for line in looked_again(terminalreporter.stats):
        terminalreporter.write_line(line)


def looked_again(stats: dict[str, list[object]]) -> Iterator[str]:
    """Yield a line for each test among *stats* with more than one attempt."""
    for found in (*stats.get("passed", ()), *stats.get("failed", ())):
        if isinstance(found, pytest.TestReport):
            looks = dict(found.user_properties).get(LOOKS, 1)
            if looks != 1:
                yield f"looked {looks} times: {found.nodeid}"
