"""Clauses of new behaviour whose tests were seen to fail: on a mutant or a release."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from conformance.harness.report.evidence.range_record import read_ranges
from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.embedded import SOURCES
from conformance.meta.clauses.suite_files import UNTESTED
from conformance.mutants.kill_record import recorded
from conformance.mutating_proxy.session import read_results
from spec.clause import release_key
from spec.registry import all_clauses

UNSEEN = Path(__file__).with_name("unseen.toml")
"""Later clauses that no record shows to fail. The file may only shrink."""
REFERENCE = "4.6.0"
"""Mutants of the reference show the failures of its own clauses."""
RECORDS = SOURCES / "fixtures" / "mutants"
PROXY_RESULTS = sorted(RECORDS.glob("*.jsonl"))
WRONG_CLIENTS = sorted(RECORDS.glob("wrong_clients_*.json"))


def seen_to_fail() -> set[str]:
    """Return the clauses that failed on a mutant, a wrong client or another release."""
    found = {name for row in recorded().values() for name in row.failed}
    for file in PROXY_RESULTS:
        for result in read_results(file):
            runs = (run for run in result.runs if run.outcome == Outcome.FAIL)
            found.update(*(run.blamed for run in runs if run.count))
    for file in WRONG_CLIENTS:
        found.update(*json.loads(file.read_text(encoding="utf-8")).values())
    for outcomes in read_ranges().values():
        found.update(outcomes[Outcome.FAIL])
    return found


def test_each_recorded_range_is_of_clauses_about_other_releases() -> None:
    clauses = all_clauses()
    for release, outcomes in read_ranges().items():
        names = outcomes[Outcome.FAIL] + outcomes[Outcome.PASS]
        wrong = [name for name in names if clauses[name].applies_to(release)]
        assert wrong == [], release


def test_the_test_of_each_later_clause_was_seen_to_fail() -> None:
    untested = tomllib.loads(UNTESTED.read_text()).keys()
    later = {
        one.id
        for one in all_clauses().values()
        if release_key(one.since) > release_key(REFERENCE)
    }
    listed = tomllib.loads(UNSEEN.read_text()).keys()
    assert sorted(later - untested - seen_to_fail()) == sorted(listed)
