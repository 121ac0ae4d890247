"""
Kill matrix: the clauses that failed on each mutant, and those that have to.

Each mutant has a run of its own, in a separate process, with the tests of its clauses
only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from conformance.harness.child_run.child_run import ChildRun, files_naming, run_child
from conformance.harness.child_run.forked_pytest import LateError
from conformance.harness.report.outcome import Outcome
from conformance.mutants.mutant import Mutant

EXAMINATION_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Outcome of a run on one mutant."""

    mutant: Mutant
    outcomes: dict[str, Outcome]
    """By clause, of those that the run's tests name."""
    output: str
    """Output of pytest."""
    texts: dict[str, str] = field(default_factory=dict)
    """Texts of the failures, by clause."""
    duration_s: float = 0.0

    @property
    def missed(self) -> list[str]:
        """The clauses that should have failed and did not."""
        expected = self.mutant.caught_by
        return [name for name in expected if self.outcomes.get(name) != Outcome.FAIL]

    @property
    def could_not_be_seen(self) -> bool:
        """Whether this machine lacks a privilege of the tests, such as a mount."""
        # A test that stopped at another clause leaves its own unsupported as well.
        if Outcome.FAIL in self.outcomes.values():
            return False
        missed = {self.outcomes.get(name) for name in self.missed}
        return missed == {Outcome.UNSUPPORTED}

    @property
    def caught(self) -> bool:
        """Whether every clause of the fault failed."""
        return not self.missed


def examine(fault: Mutant) -> Kill:
    """Run the tests of the clauses of *fault* on the mutant."""
    begun = time.monotonic()
    try:
        run = run_clauses(fault.target, fault.caught_by)
    except LateError as error:
        return Kill(mutant=fault, outcomes={}, output=str(error))
    return Kill(
        mutant=fault,
        outcomes=run.outcomes,
        output=run.output,
        texts={name: failure.text for name, failure in run.failures.items()},
        duration_s=time.monotonic() - begun,
    )


def examine_each(faults: Iterable[Mutant], *, jobs: int = 2) -> Iterator[Kill]:
    """Run each of *faults*, *jobs* at a time, and yield what was seen as it comes."""
    pool = ThreadPoolExecutor(jobs)
    try:
        for ended in as_completed([pool.submit(examine, one) for one in faults]):
            yield ended.result()
    finally:  # an interrupted run does not wait for the others
        pool.shutdown(cancel_futures=True)


def examine_all(faults: Iterable[Mutant], *, jobs: int = 2) -> list[Kill]:
    """Run each of *faults*, *jobs* at a time, and return their order kept."""
    wanted = list(faults)
    kills = {kill.mutant.id: kill for kill in examine_each(wanted, jobs=jobs)}
    return [kills[one.id] for one in wanted]


def run_clauses(
    target: str,
    clauses: Iterable[str],
    *,
    jobs: int = 0,
    timeout_s: float = EXAMINATION_TIMEOUT_S,
) -> ChildRun:
    """Return the run of the tests on *target* that name one of *clauses*."""
    wanted = list(clauses)
    return run_child(
        files_naming(wanted),
        "--hypothesis-profile=glance",
        "--require-target",
        f"--target={target}",
        f"--only-clauses={','.join(wanted)}",
        "--until-failed",
        "--tb=native",  # collecting all other files takes longer than a test
        f"-n{jobs}",
        timeout_s=timeout_s,
    )


def matrix_lines(kills: Iterable[Kill]) -> Iterator[str]:
    """Yield one line a mutant: caught or not, and which clauses failed."""
    for kill in kills:
        verdict = "caught" if kill.caught else "MISSED"
        failed = [
            name for name, outcome in kill.outcomes.items() if outcome == Outcome.FAIL
        ]
        named = " ".join(failed) or "no clause failed"
        if not kill.outcomes:
            named = "the run itself broke"
        missed = f"  (not: {' '.join(kill.missed)})" if kill.missed else ""
        yield f"{verdict}  {kill.mutant.id:<28} {named}{missed}"
