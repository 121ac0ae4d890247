"""Options of a run of mutants, and a report of faults detected on a retry only."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest

from conformance.mutants.choice import ROOT, change_of, chosen
from conformance.mutants.kill_record import recorded
from conformance.mutants.mutant import all_mutants

LOOKS = "looks"
"""Property of a test: the number of its attempts."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with the choice of mutants."""
    parser.addoption(
        "--mutants",
        choices=("all", "changed"),
        default="all",
        help="Mutants to run: all, or those of the change and a tenth of the rest.",
    )


def pytest_report_header(config: pytest.Config) -> str:
    """Return the number of mutants that run."""
    return f"mutants: {len(chosen_of(config))} of {len(all_mutants())}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of one mutant each of the chosen ones, the longest first."""
    if "chosen_mutant" in metafunc.fixturenames:
        rows = recorded()
        # A mutant without a recorded kill is new, and may take as long as any.
        seconds = {name: row.duration_s for name, row in rows.items()}
        names = chosen_of(metafunc.config)
        names.sort(key=lambda name: seconds.get(name, inf), reverse=True)
        metafunc.parametrize("chosen_mutant", names)


@pytest.fixture
def chosen_mutants(request: pytest.FixtureRequest) -> list[str]:
    """Return the ids of the mutants that run."""
    return chosen_of(request.config)


def chosen_of(config: pytest.Config) -> list[str]:
    """Return the ids of the mutants that run with the options of *config*."""
    if config.getoption("--mutants") == "all":
        return list(all_mutants())
    return chosen(all_mutants(), change_of(ROOT))


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
