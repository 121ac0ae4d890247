"""
Tests that a run would select, by clause, found without running pytest.

Their number decides how many workers a run gets, and ``--list`` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

import click
from _pytest.mark.expression import Expression

from cli.runs.suites.clause_tests import clause_tests, read_only_tests
from conformance.harness.report.terminal.line_width import wrapped
from conformance.harness.targets.started.embedded import SOURCES
from spec.clause import Clause
from spec.registry import all_clauses

TestsByClause = Mapping[str, Collection[str]]


def selected_tests(suites: Collection[str], keywords: str = "") -> TestsByClause:
    """Return the tests of *suites* that pytest's ``-k`` *keywords* select, by clause.

    Unlike pytest, this compares keywords with a test's path and name only.
    """
    prefixes = tuple(f"conformance/{suite}/" for suite in suites)
    is_selected = _keyword_filter(keywords)
    selected = {}
    for name, tests in clause_tests(SOURCES).items():
        kept = [one for one in tests if one.startswith(prefixes) and is_selected(one)]
        if kept:
            selected[name] = kept
    return selected


def without_writers(tests: TestsByClause) -> TestsByClause:
    """Return those of *tests* that write nothing."""
    reading = read_only_tests(SOURCES)
    kept = {name: reading.intersection(named) for name, named in tests.items()}
    return {name: named for name, named in kept.items() if named}


def read_only_suites() -> list[str]:
    """Return the suites with a test that writes nothing."""
    return sorted({test.split("/")[1] for test in read_only_tests(SOURCES)})


def suites_with_tests(clauses: Sequence[Clause]) -> list[str]:
    """Return the suites that have a test of one of *clauses*."""
    tests = clause_tests(SOURCES)
    named = (test for one in clauses for test in tests.get(one.id, ()))
    return sorted({test.split("/")[1] for test in named})


def count_tests(tests: TestsByClause, clauses: Sequence[Clause] | None) -> int:
    """Return the number of *tests* that name one of *clauses*, or any clause."""
    ids = tests if clauses is None else [one.id for one in clauses]
    return len({test for one in ids for test in tests.get(one, ())})


def print_clauses(
    clauses: Sequence[Clause] | None,
    tests: TestsByClause,
    *,
    release: str | None,
    has_tests_only: bool,
) -> int:
    """Print one line for each of *clauses* that is about *release*; return their count.

    No clauses stand for all, no release for any. Those without a test are left out
    where *has_tests_only*.
    """
    printed = 0
    if clauses is None:
        clauses = sorted(all_clauses().values(), key=lambda one: one.id)
    for one in clauses:
        count = len(tests.get(one.id, ()))
        is_about_it = release is None or one.applies_to(release)
        if is_about_it and (count or not has_tests_only):
            noun = "test" if count == 1 else "tests"
            row = f"{one.id:<26} {one.level:<6} {count:>2} {noun:<5}  "
            click.echo(wrapped(row + one.text, len(row)))
            printed += 1
    return printed


def keywords_of(pytest_args: Sequence[str]) -> str:
    """Return the expression of the last ``-k`` among *pytest_args*; empty without."""
    found = ""
    for word, following in pairwise([*pytest_args, ""]):
        if word == "-k":
            found = following
        elif word.startswith("-k"):
            found = word.removeprefix("-k").removeprefix("=")
    return found


def _keyword_filter(keywords: str) -> Callable[[str], bool]:
    """Return the predicate of a test's path and name that *keywords* state."""
    if not keywords:
        return lambda _test: True
    try:
        expression = Expression.compile(keywords)
    except SyntaxError as error:
        raise click.UsageError(f"-k: {error}") from None

    def is_selected(test: str) -> bool:
        def matches(word: str, /, **_: object) -> bool:
            return word.lower() in test.lower()

        return expression.evaluate(matches)

    return is_selected
