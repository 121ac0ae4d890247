"""
Differences between a run and the recorded evidence of its release.

The evidence is the observed behaviour of Apache RocketMQ of that release. On the same
release, a difference means that the suite, the clause or the machine changed. On
another peer, it is a difference of behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.observed import SETTLED, Observed
from spec.registry import all_clauses

PASS = "pass"  # noqa: S105 - a verdict, not a password
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A clause about which the run and the evidence disagree."""

    clause_id: str
    recorded: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Outcomes of a run beside the recorded ones."""

    observed: Observed
    same: int
    different: tuple[Difference, ...]
    lost: tuple[str, ...]
    """Clauses that the release was observed to meet, without a verdict in this run."""
    unrecorded: tuple[str, ...]
    """Clauses that the evidence does not settle, most likely younger than it."""

    def contradicts(self, *, whole: bool) -> bool:
        """Return whether the run and the evidence contradict each other.

        *whole*: the run had to include every recorded clause.
        """
        return bool(self.different or (whole and self.lost))


def compare(outcomes: Mapping[str, str], observed: Observed) -> Comparison:
    """Return the comparison of *outcomes*, by clause id, with the *observed* ones."""
    recorded = observed.outcomes
    both = [
        Difference(clause_id=name, recorded=recorded[name], found=found)
        for name, found in sorted(outcomes.items())
        if found in SETTLED and recorded.get(name) in SETTLED
    ]
    different = tuple(one for one in both if _meets(one.found) != _meets(one.recorded))
    return Comparison(
        observed=observed,
        same=len(both) - len(different),
        different=different,
        lost=tuple(
            name
            for name, found in sorted(outcomes.items())
            if found not in SETTLED and recorded.get(name) == PASS
        ),
        unrecorded=tuple(
            name
            for name, found in sorted(outcomes.items())
            if found in SETTLED and recorded.get(name) not in SETTLED
        ),
    )


def is_release(target: str, release: str) -> bool:
    """Return whether *target* is Apache RocketMQ *release* as the evidence has it."""
    return target == f"jvm:{release}"


def difference_lines(comparison: Comparison) -> list[str]:
    """Return a summary line of *comparison*, then a line for each difference."""
    observed, shown = comparison.observed, comparison.different[:MOST_SHOWN]
    counts = [
        f"{comparison.same} outcomes as recorded",
        f"{len(comparison.different)} otherwise",
        f"{len(comparison.lost)} without a verdict here",
        f"{len(comparison.unrecorded)} not recorded",
    ]
    heading = f"evidence of {observed.release} ({observed.recorded}): "
    lines = [heading + ", ".join(counts)]
    lines += [
        f"differs {one.clause_id}  here {one.found}, recorded {one.recorded}: "
        f"{_sentence(one.clause_id)}"
        for one in shown
    ]
    more = len(comparison.different) - len(shown)
    return lines + ([f"... and {more} more"] if more else [])


def _meets(outcome: str) -> bool:
    return outcome == PASS


def _sentence(clause_id: str) -> str:
    clause = all_clauses().get(clause_id)
    return clause.text if clause else "(no such clause any more)"
