"""
Causes of a run's failures: failures with the same values, and what they block.

The cause that explains most comes first. It is shown with one clause, and with the
values that were got and expected in one line each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.harness.report.run_record import BASELINE, BROKEN, STALE
from spec.registry import all_clauses

Result = Mapping[str, Any]
"""Result of one clause, as a report has it."""
VALUE_LIMIT = 160
"""Characters of a value in one line."""
GRAVE_LEVELS = ("MUST",)
BLOCKER = re.compile(r"blocked by ([A-Z]+-[A-Z0-9]+-\d{3})")
_VARIES = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}(_\d+)?|\d{4,}")
"""Parts of a value that differ from test to test: offsets, ids, ports."""
TELLING_SIZE = 30
"""Letters of values from which on equal values are most likely one cause."""


@dataclass(slots=True, kw_only=True)
class Cause:
    """Failures with the same found and expected values."""

    clause_id: str
    """The first clause of the cause."""
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


def causes_of(results: Iterable[Result], outcome: str = "fail") -> list[Cause]:
    """Return the causes of the *results* with this outcome, the first one first.

    Breaks of the target precede defects of the baseline, and these precede the rest.
    Of equal ones, the cause with more clauses precedes.
    """
    listed = list(results)
    causes: dict[object, Cause] = {}
    for result in listed:
        if result["outcome"] == outcome and result.get("reason") != STALE:
            key = _key(result)
            cause = causes.setdefault(key, _cause(result))
            cause.clauses.append(result["id"])
    _count_blocked(causes.values(), listed)
    return sorted(causes.values(), key=_rank)


def stale_clauses(results: Iterable[Result]) -> list[str]:
    """Return the clauses that pass although they are listed as known failures."""
    return [one["id"] for one in results if one.get("reason") == STALE]


def one_line(text: str, limit: int = VALUE_LIMIT) -> str:
    """Return *text* in one line of at most *limit* characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def _cause(result: Result) -> Cause:
    failure = result["failure"] or {}
    return Cause(
        clause_id=result["id"],
        outcome=result["outcome"],
        found=failure.get("found") or one_line(result.get("reason") or ""),
        expected=failure.get("expected") or "",
        again=failure.get("again") or "",
        text=failure.get("text") or "",
        is_break=failure.get("expected") == BROKEN,
        is_baseline=failure.get("test", "").startswith(BASELINE),
    )


def _key(result: Result) -> object:
    """Return the same key for failures with the same values."""
    failure = result["failure"] or {}
    found, expected = failure.get("found") or "", failure.get("expected") or ""
    if expected == BROKEN or failure.get("test", "").startswith(BASELINE):
        return result["id"]
    text = found or result.get("reason") or failure.get("text", "")
    alike = _VARIES.sub("#", f"{one_line(text)} | {one_line(expected)}")
    is_telling = sum(map(str.isalpha, alike)) >= TELLING_SIZE
    return alike if is_telling else (alike, result["id"].rpartition("-")[0])


def _count_blocked(causes: Iterable[Cause], results: Iterable[Result]) -> None:
    """Count for each cause the clauses that it blocks."""
    by_clause = {name: one for one in causes for name in one.clauses}
    breaks = [one for one in causes if one.is_break]
    for result in results:
        if result["outcome"] != "blocked":
            continue
        reason = result.get("reason") or ""
        named = BLOCKER.search(reason)
        cause = by_clause.get(named[1]) if named else next(iter(breaks), None)
        if cause is not None:
            cause.blocked += 1


def _rank(cause: Cause) -> tuple[bool, bool, int, str]:
    explained = cause.blocked + len(cause.clauses)
    return not cause.is_break, not cause.is_baseline, -explained, cause.clause_id
