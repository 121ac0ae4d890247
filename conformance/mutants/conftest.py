"""Says, at the end of a run, which faults were not noticed at the first look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

LOOKS = "looks"
"""The property of a test that says how often it looked."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that looked more than once: what owns them is to be mended."""
    for line in looked_again(terminalreporter.stats):
        terminalreporter.write_line(line)


def looked_again(stats: dict[str, list[object]]) -> Iterator[str]:
    """Yield a line for each test among *stats* with more than one look."""
    for found in (*stats.get("passed", ()), *stats.get("failed", ())):
        if isinstance(found, pytest.TestReport):
            looks = dict(found.user_properties).get(LOOKS, 1)
            if looks != 1:
                yield f"looked {looks} times: {found.nodeid}"
