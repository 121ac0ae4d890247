"""
Differences that a clause foretells: it is about one of the two releases only.

An explanation names the clauses, where the difference shows, and the values between
which it is. It counts where one of its clauses is about one of the releases and not
about the other. Whatever no explanation fits is a finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.differential.step import Step
from spec.registry import clause as clause_of

ANY = "*"
ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact of one answer that is not the same on both sides."""

    kind: str
    """What was asked."""
    path: str
    target: str
    against: str

    @property
    def where(self) -> str:
        """The path with the kind of step before it, as explanations name it."""
        return f"{self.kind}.{self.path}"

    @property
    def values(self) -> frozenset[str]:
        """Both values; which side has which depends on the order of the releases."""
        return frozenset({self.target, self.against})


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A difference that clauses foretell."""

    clauses: tuple[str, ...]
    where: tuple[str, ...]
    """Patterns of the kind of step and the path."""
    values: tuple[str, str] = (ANY, ANY)
    """Patterns of both values, in either order."""
    about: str = ANY
    """A pattern of the step as it is printed."""

    def fits(self, difference: Difference, step: Step) -> bool:
        """Return whether the difference is of this kind."""
        one, other = difference.target, difference.against
        return (
            any(fnmatchcase(difference.where, pattern) for pattern in self.where)
            and (self._between(one, other) or self._between(other, one))
            and fnmatchcase(str(step), self.about)
        )

    def separates(self, some: str, other: str) -> bool:
        """Return whether a clause is about one of two releases only."""
        clauses = [clause_of(name) for name in self.clauses]
        return any(one.applies_to(some) != one.applies_to(other) for one in clauses)

    def _between(self, one: str, other: str) -> bool:
        return fnmatchcase(one, self.values[0]) and fnmatchcase(other, self.values[1])


SUCCESS, ERROR, REFUSED = "0 SUCCESS", "1 SYSTEM_ERROR", "[!0]*"

EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        clauses=("PULL-QUEUE-001", "PULL-QUEUE-002"),
        where=("pull.code",),
        values=(ERROR, "29 INVALID_PARAMETER"),
    ),
    Explanation(
        clauses=("SEND-QUEUE-002", "SEND-QUEUE-003"),
        where=("send*.code",),
        values=(ERROR, "29 INVALID_PARAMETER"),
    ),
)


def explain(
    difference: Difference, step: Step, *, releases: tuple[str, str]
) -> Explanation | None:
    """Return what foretells *difference* between two releases; None if nothing does."""
    for one in EXPLANATIONS:
        if one.separates(*releases) and one.fits(difference, step):
            return one
    return None
