"""The recorded evidence is about clauses that exist, and explains itself."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.options import BROKER_SUITES
from conformance.harness.releases import STUDIED
from conformance.meta.clauses.suite_files import named_clauses, suite_files
from spec.observed import Observed, all_evidence
from spec.registry import all_clauses

EVERY = pytest.mark.parametrize("observed", all_evidence().values(), ids=all_evidence())
UNEXPLAINED = {"fail", "error", "known"}
"""A clause that a real release does not meet is wrong until argued: it has a range."""


@EVERY
def test_a_release_is_seen_to_do_what_some_clause_still_says(
    observed: Observed,
) -> None:
    gone = sorted(
        name
        for name in observed.outcomes
        if name not in all_clauses() and observed.settles(name)
    )
    assert not gone, f"recorded, declared nowhere: {' '.join(gone)}; record again"


@EVERY
def test_no_release_is_seen_to_break_a_clause(observed: Observed) -> None:
    broken = [n for n, one in observed.outcomes.items() if one in UNEXPLAINED]
    assert not broken, (
        f"{observed.release} breaks {' '.join(broken)}: they lack a range, or the run"
        " failed, and `rmqc evidence record --younger` repeats it"
    )


@EVERY
def test_what_a_release_could_not_be_asked_has_a_reason(observed: Observed) -> None:
    silent = {n for n, one in observed.outcomes.items() if one == "unsupported"}
    assert silent <= set(observed.reasons)


@EVERY
def test_evidence_names_the_release_that_ran(observed: Observed) -> None:
    assert observed.release in STUDIED
    assert observed.target == f"jvm:{observed.release}"


@EVERY
def test_most_clauses_are_older_than_the_evidence(observed: Observed) -> None:
    testable = {
        name
        for file in suite_files(BROKER_SUITES)
        for name in named_clauses(file)
        if name in all_clauses() and all_clauses()[name].applies_to(observed.release)
    }
    younger = sorted(name for name in testable if not observed.settles(name))
    # New clauses may lack evidence for a while: their author need not have five
    # releases at hand. `rmqc evidence list` counts these.
    assert len(younger) < len(testable) / 2, f"record again: {len(younger)} are younger"
