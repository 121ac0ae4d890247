"""Two references do not differ; a mutated one does, and a small program shows how."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.differential.report import lines, report_of
from conformance.differential.run import run
from conformance.harness.targets.target import Target, parse_target

FEW = 12
MUTATED = {
    "max_offset_of_last_message": 4,
    "next_offset_stays": 4,
    "min_offset_one_up": 4,
    "every_pull_commits": 6,
    "lock_is_shared": 6,
    "rollback_delivers": 6,
}
"""Mutants, and how many requests at most are needed to show the fault."""
LONG = 6
"""Requests of a fault that takes seconds to find."""


@pytest.fixture(scope="module")
def reference() -> Iterator[Target]:
    """Yield the reference, which a whole module compares with."""
    with parse_target("embedded:") as target:
        yield target


def test_two_references_do_not_differ(reference: Target) -> None:
    with parse_target("embedded:") as other:
        outcome = run(other, reference, examples=FEW)
    reported = list(lines(outcome, target="one", against="other"))
    assert not outcome.findings, "\n".join(reported)
    assert sum(outcome.counts.steps.values()) > 10 * FEW
    assert reported[-1].startswith("no difference")


@pytest.mark.parametrize(
    "name",
    [
        name if most < LONG else pytest.param(name, marks=pytest.mark.slow)
        for name, most in MUTATED.items()
    ],
)
def test_a_fault_is_found_by_a_small_program(name: str, reference: Target) -> None:
    with parse_target(f"mutant:{name}") as mutant:
        outcome = run(mutant, reference, examples=300, most=1)
    reported = "\n".join(lines(outcome, target=f"mutant:{name}", against="embedded:"))
    (finding,) = outcome.findings
    assert finding.program_run.difference is not None, reported
    assert len(finding.program) <= MUTATED[name], reported
    assert finding.again, reported
    assert report_of(outcome, target="a", against="b", command="c")["findings"]
