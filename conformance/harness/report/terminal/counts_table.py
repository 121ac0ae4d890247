"""Outcomes of the clauses of a run as a table: a line for each suite, with a bar."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from conformance.harness.report.outcome import VERDICTS, Outcome
from conformance.harness.report.run_record import BASELINE, ClauseResult
from spec.registry import all_clauses

HEADS = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.KNOWN: "known",
    Outcome.BLOCKED: "blocked",
    Outcome.ERROR: "error",
    Outcome.UNSUPPORTED: "unsupp.",
    Outcome.NOT_APPLICABLE: "n/a",
}
"""Outcomes as heads of columns."""
DUE = (*VERDICTS, Outcome.BLOCKED, Outcome.ERROR)
"""Outcomes of clauses that the target should pass."""
NAME_WIDTH = 10
NUMBER_WIDTH = 5
BAR_WIDTH_MAX = 20
BAR_WIDTH_MIN = 4
GAP = 2
OF_CLIENTS = "CLIENT-"
"""Begin of the ids of clauses about clients."""
WIDTH = 80
"""Columns of a table whose output may have any width."""


def table(results: Iterable[ClauseResult], width: int | None = None) -> list[str]:
    """Return one line for each suite that has a result, with its share of passes.

    A clause counts in the suite of its first test. Outcomes of no clause have no
    column.
    """
    counted: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for result in results:
        counted[suite_of_tests(result.tests)][result.outcome] += 1
    total = sum(counted.values(), Counter())
    shown = [outcome for outcome in HEADS if total[outcome]]
    used = NAME_WIDTH + GAP + sum(map(_column_width, shown))
    bar_width = max(min((width or WIDTH) - used, BAR_WIDTH_MAX), BAR_WIDTH_MIN)
    heads = "".join(f"{HEADS[one]:>{_column_width(one)}}" for one in shown)
    rows = [*sorted(counted.items()), *([("clauses", total)] * (len(counted) > 1))]
    return [
        " " * NAME_WIDTH + heads,
        *(_row(name, count, shown, bar_width) for name, count in rows),
    ]


def suite_of_tests(tests: Sequence[str]) -> str:
    """Return the suite of the first of *tests* that is in one."""
    for test in tests:
        folders = test.partition("::")[0].split("/")[:-1]
        if "conformance" in folders[:-1]:
            return folders[folders.index("conformance") + 1]
    are_steps = all(test.startswith(BASELINE) for test in tests)
    return BASELINE.rstrip(": ") if are_steps else "tests"


def checked_line(
    results: Iterable[ClauseResult], *, has_all_clauses: bool = True
) -> str:
    """Return the number of clauses with a verdict, and of the others by outcome.

    Clauses of the specification that no test of the run names count as not in the run.
    Those about clients are counted apart: a run on a broker cannot have them. Without
    *has_all_clauses* neither counts, as in the suite for clients.
    """
    results = list(results)
    counted = Counter(result.outcome for result in results)
    checked = sum(counted[outcome] for outcome in VERDICTS)
    total = len(all_clauses()) if has_all_clauses else counted.total()
    others = [
        f"{counted[outcome]:,} {outcome}"
        for outcome in HEADS
        if outcome not in VERDICTS and counted[outcome]
    ]
    missing = all_clauses().keys() - {result.id for result in results}
    of_clients = sum(name.startswith(OF_CLIENTS) for name in missing)
    counts = {
        "not in this run": len(missing) - of_clients,
        "about clients (rmqc test-client)": of_clients,
    }
    if has_all_clauses:
        others += [f"{count:,} {text}" for text, count in counts.items() if count]
    first = (
        f"checked {checked:,} of {total:,} clauses" if checked else "checked nothing"
    )
    return ": ".join(filter(None, [first, ", ".join(others)]))


def _column_width(outcome: Outcome) -> int:
    return max(len(HEADS[outcome]) + 1, NUMBER_WIDTH)


def _row(
    name: str, count: Counter[Outcome], shown: Iterable[Outcome], bar_width: int
) -> str:
    cells = "".join(f"{count[one] or '·':>{_column_width(one)}}" for one in shown)
    bar = _bar(count, bar_width)
    return f"{name:<{NAME_WIDTH}}{cells}{' ' * GAP}{bar}".rstrip()


def _bar(count: Counter[Outcome], width: int) -> str:
    """Return the share of passes among the clauses that the target should pass."""
    due = sum(count[outcome] for outcome in DUE)
    if not due:
        return ""
    filled = count[Outcome.PASS] * width // due
    return "█" * filled + "░" * (width - filled)
