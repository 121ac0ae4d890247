"""
Base of the enums of codes, whose members name the releases that declare them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Self

from spec.clause import range_has


class ReleasedCode(IntEnum):
    """Code that some releases declare."""

    since: str
    """First release that declares the code; 4.4 stands for 4.4 and before."""
    until: str | None
    """Last release that declares it; None while the newest does."""

    def __new__(cls, code: int, since: str = "4.4", until: str | None = None) -> Self:
        """Return the member of *code*."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.since = since
        member.until = until
        return member

    def is_in(self, release: str) -> bool:
        """Return whether *release*, such as ``4.9.7``, declares the code."""
        return range_has(release, self.since, self.until)
