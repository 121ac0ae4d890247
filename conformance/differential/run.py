"""
Many programs on two targets, and the smallest one for each difference.

Hypothesis generates the programs and shrinks the first with a difference. That
difference is then ignored, and others are searched, as often as the run allows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from conformance.differential.compare import (
    Counts,
    Pair,
    ProgramRun,
    UnlikeError,
    signature,
)
from conformance.differential.program import PROLOGUE, Program, programs
from conformance.differential.shrink import shrunk
from conformance.harness.targets.target import Target

EFFORTS = {"quick": 50, "deep": 2000}
"""Programs of a run, by the word for it."""
MOST_FINDINGS = 5
"""Different differences after which a run gives up: the targets are just not alike."""

OnProgress = Callable[[Counts], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A difference that nothing foretells, and the smallest program that shows it."""

    program: Program
    program_run: ProgramRun
    found_in: int
    """Steps of the program in which it was seen first."""
    again: bool
    """Whether the program showed it again, when it was run once more."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """Outcome of a run."""

    seed: int
    examples: int
    counts: Counts
    releases: tuple[str, str]
    findings: list[Finding] = field(default_factory=list)

    @property
    def has_verdict(self) -> bool:
        """Whether a request behind the first ones of every program was compared.

        Without findings, a request that was busy each time prevents it, too. So does a
        run in which no request succeeds, as with wrong credentials.
        """
        first = {step.kind for step in PROLOGUE}
        is_compared = not self.counts.steps.keys() <= first
        is_served = is_compared and self.counts.successes > 0
        return bool(self.findings) or (is_served and not self.counts.always_busy)


def run(
    target: Target,
    against: Target,
    *,
    examples: int,
    seed_number: int = 0,
    most: int = MOST_FINDINGS,
    on_progress: OnProgress = lambda _counts: None,
) -> Outcome:
    """Compare two started targets by *examples* programs."""
    pair = Pair(target, against, f"d{uuid.uuid4().hex[:6]}")
    outcome = Outcome(
        seed=seed_number,
        examples=examples,
        counts=pair.counts,
        releases=pair.releases,
    )
    while len(outcome.findings) < most:
        finding = _search(
            pair, examples, seed_number + len(outcome.findings), on_progress
        )
        if finding is None:
            break
        assert finding.program_run.difference is not None
        pair.ignored.add(signature(finding.program_run.difference))
        outcome.findings.append(finding)
    return outcome


def _search(
    pair: Pair, examples: int, seed_number: int, on_progress: OnProgress
) -> Finding | None:
    """Return the next difference, shrunk; None if *examples* programs show none."""
    shown: list[tuple[Program, ProgramRun]] = []

    @seed(seed_number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(program=programs())
    def compare(program: Program) -> None:
        program_run = pair.compare(program)
        on_progress(pair.counts)
        if program_run.difference is not None:
            shown.append((program, program_run))
            raise UnlikeError(program_run)

    try:
        compare()
    except (UnlikeError, Flaky):
        return _smallest(pair, *shown[0], on_progress)
    return None


def _smallest(
    pair: Pair, program: Program, program_run: ProgramRun, on_progress: OnProgress
) -> Finding:
    """Return the finding of *program* with the smallest one that shows the same."""
    assert program_run.difference is not None
    wanted = signature(program_run.difference)

    def shows(candidate: Program) -> bool:
        tried = pair.compare(candidate)
        on_progress(pair.counts)
        return tried.difference is not None and signature(tried.difference) == wanted

    smallest = shrunk(program, shows)
    last = pair.compare(smallest)
    again = last.difference is not None
    return Finding(
        program=smallest if again else program,
        program_run=last if again else program_run,
        found_in=len(program),
        again=again,
    )
