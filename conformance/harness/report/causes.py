"""
Causes of a run's failures: failures with one sign, and what they block.

A sign is one test, or one refused request. Equal values alone are not one: different
defects close a connection. Causes of the gravest level come first. Each is shown with
one clause, and with the values that were got and expected in one line each. Late
responses precede the others, for they disturb every test that waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import ClauseEntry, FailureEntry
from conformance.harness.report.run_record import BASELINE, BROKEN, SINCE, STALE
from spec.clause import Level
from spec.registry import all_clauses

VALUE_LIMIT = 160
"""Characters of a value in one line."""
GRAVE_LEVELS = ("MUST",)
BLOCKER = re.compile(r"blocked by ([A-Z]+-[A-Z0-9]+-\d{3})")
_VARIES = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8,}(_\d+)?|\d{4,}"
    r"|(?<=opaque )-?\d+|(?<=its request has )-?\d+"
)
"""Parts of a value that differ from test to test: offsets, ids, ports."""
_REFUSAL = re.compile(r"refused with code \d+")
_SENT = re.compile(r"^  sent +request (\d+)", re.MULTILINE)
"""Code of the last request, in the text of a failure."""
LATE = "WIRE-COMMAND-012"
"""Clause about responses that are late."""
_LEVELS = {level.value: place for place, level in enumerate(Level)}


@dataclass(slots=True, kw_only=True)
class Cause:
    """Failures with one sign."""

    clause_id: str
    """The gravest clause of the cause."""
    outcome: str
    found: str
    expected: str
    again: str
    text: str
    clauses: list[str] = field(default_factory=list)
    """All failed clauses of the cause."""
    blocked: int = 0
    """Clauses without a verdict because of it."""
    is_break: bool = False
    """Whether the target broke."""
    is_baseline: bool = False
    """Whether a request in its simplest form fails."""

    @property
    def level(self) -> str:
        """Level of the first clause."""
        return all_clauses()[self.clause_id].level.value

    @property
    def sentence(self) -> str:
        """Sentence of the first clause."""
        return all_clauses()[self.clause_id].text

    @property
    def is_grave(self) -> bool:
        """Whether the target breaks a clause that every peer has to keep."""
        return self.level in GRAVE_LEVELS

    @property
    def extent(self) -> str:
        """Number of clauses that fail and that are blocked, in words."""
        parts = [f"{len(self.clauses)} clauses"] if len(self.clauses) > 1 else []
        parts += [f"{self.blocked} blocked"] if self.blocked else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """End of the target's responses during a test, which blocks the later ones."""

    test: str
    problem: str
    blocked: int
    """Clauses without a verdict because of it."""

    @property
    def headline(self) -> str:
        """The loss in one line."""
        test = self.test.rpartition("::")[2]
        clauses = "1 clause" if self.blocked == 1 else f"{self.blocked:,} clauses"
        return f"target stopped answering during {test}; {clauses} blocked"


def losses_of(results: Iterable[ClauseEntry]) -> list[Loss]:
    """Return the losses of the target, the one that blocks most first."""
    problems: dict[str, list[str]] = {}
    for result in results:
        problem, test = loss_in(result.outcome, result.reason or "")
        if test:
            problems.setdefault(test, []).append(problem)
    losses = [
        Loss(test=test, problem=found[0], blocked=len(found))
        for test, found in problems.items()
    ]
    return sorted(losses, key=lambda one: -one.blocked)


def loss_in(outcome: str, reason: str) -> tuple[str, str]:
    """Return problem and test of a reason that is a loss; empty for other reasons."""
    problem, _, test = reason.rpartition(SINCE)
    is_loss = outcome == Outcome.BLOCKED and not BLOCKER.match(reason)
    return (problem, test) if is_loss and problem else ("", "")


def causes_of(results: Iterable[ClauseEntry], outcome: str = "fail") -> list[Cause]:
    """Return the causes of the *results* with this outcome, the first one first.

    Breaks of the target precede, then late responses. The rest is ordered by level.
    Within a level, defects of the baseline precede, then causes with more clauses.
    """
    listed = list(results)
    failed = [one for one in listed if one.outcome == outcome]
    causes: dict[object, Cause] = {}
    for result in sorted(failed, key=_gravity):
        if result.reason != STALE:
            key = _key(result)
            cause = causes.setdefault(key, _cause(result))
            cause.clauses.append(result.id)
    _count_blocked(causes.values(), listed)
    return sorted(causes.values(), key=_rank)


def stale_clauses(results: Iterable[ClauseEntry]) -> list[str]:
    """Return the clauses that pass although they are listed as known failures."""
    return [one.id for one in results if one.reason == STALE]


def by_family(ids: Iterable[str]) -> list[str]:
    """Return *ids* by family, as ``WIRE-FRAME-001, 002``."""
    families: dict[str, list[str]] = {}
    for name in ids:
        family, _, number = name.rpartition("-")
        families.setdefault(family, []).append(number)
    return [f"{name}-{', '.join(numbers)}" for name, numbers in families.items()]


def one_line(text: str, limit: int = VALUE_LIMIT) -> str:
    """Return *text* in one line of at most *limit* characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


_NO_FAILURE = FailureEntry(test="", expected="", found="", text="")


def _cause(result: ClauseEntry) -> Cause:
    failure = result.failure or _NO_FAILURE
    return Cause(
        clause_id=result.id,
        outcome=result.outcome,
        found=failure.found or one_line(result.reason or ""),
        expected=failure.expected,
        again=failure.again or "",
        text=failure.text,
        is_break=failure.expected == BROKEN,
        is_baseline=failure.test.startswith(BASELINE),
    )


def without_varying(text: str) -> str:
    """Return *text* in one line, without what differs from run to run."""
    return _VARIES.sub("#", one_line(text))


def _gravity(result: ClauseEntry) -> tuple[int, str]:
    return _LEVELS[all_clauses()[result.id].level.value], result.id


def _key(result: ClauseEntry) -> object:
    """Return the same key for failures with one sign; for errors, for one text."""
    failure = result.failure or _NO_FAILURE
    if failure.expected == BROKEN:  # the tests that ran are not its signs
        return _VARIES.sub("#", failure.found)
    if failure.test.startswith(BASELINE):
        return result.id
    text = failure.found or result.reason or failure.text
    values = without_varying(text), without_varying(failure.expected)
    if result.outcome is Outcome.ERROR:
        return values
    sent = _SENT.search(failure.text)
    if sent and _REFUSAL.search(failure.found):
        return sent[1], values
    return failure.test.partition("[")[0], values


def _count_blocked(causes: Iterable[Cause], results: Iterable[ClauseEntry]) -> None:
    """Count for each cause the clauses that it blocks."""
    by_clause = {name: one for one in causes for name in one.clauses}
    breaks = [one for one in causes if one.is_break]
    for result in results:
        if result.outcome is not Outcome.BLOCKED:
            continue
        reason = result.reason or ""
        named = BLOCKER.search(reason)
        cause = by_clause.get(named[1]) if named else next(iter(breaks), None)
        if cause is not None:
            cause.blocked += 1


def _rank(cause: Cause) -> tuple[bool, bool, int, bool, int, str]:
    level = _LEVELS[cause.level]
    explained = cause.blocked + len(cause.clauses)
    disturbs = not cause.is_break, LATE not in cause.clauses
    return *disturbs, level, not cause.is_baseline, -explained, cause.clause_id
