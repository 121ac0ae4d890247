"""A difference: one fact of one answer that is not the same on both sides."""

from __future__ import annotations

from dataclasses import dataclass

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact of one answer that is not the same on both sides."""

    kind: str
    """Kind of the step."""
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
