"""
A clause is one testable sentence of the specification.

It is declared once, beside the layout or rule that it is about, as a constant of
that module. Tests name it by its id, failures print its sentence, exports carry
it. An id is AREA-FAMILY-NNN, given once, never reused, and not a position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_ID = re.compile(
    r"(WIRE|ROUTE|STORE|INDEX|SEND|PULL|POP|LITE|OFFSET|GROUP|TXN|DELAY|RETRY|QUERY"
    r"|ADMIN|HA|REC|SEC|TLS|CLIENT)-[A-Z0-9]+-\d{3}"
)


class Level(StrEnum):
    """Requirement level of a clause."""

    MUST = "MUST"
    """Every tested release does this; peers break where it is not so."""
    SHOULD = "SHOULD"
    """Every tested release does this; peers can live without it."""
    MAY = "MAY"
    """Allowed; nothing relies on it."""
    QUIRK = "QUIRK"
    """Surprising, but a real release does it and peers may depend on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A statement that a conforming implementation makes true, with its source."""

    id: str
    level: Level
    text: str
    """One or two sentences, in the present tense, ending with a full stop."""
    source: str
    """Release tag, then class and symbol, as ``4.6.0 org.apache...UtilAll#crc32``."""
    since: str = "4.4"
    """First release that behaves so."""
    until: str | None = None
    """Last release that behaves so; None while the newest does."""
    issues: tuple[str, ...] = ()
    """Public issues about a violation, as ``apache/rocketmq#9121``."""
    untestable: str | None = None
    """Why no test names this clause; None when a test must."""
    hints: tuple[tuple[str, str], ...] = ()
    """Known mistakes: (form of the found value, probable cause)."""

    def __post_init__(self) -> None:
        """Refuse a malformed clause where it is declared."""
        if not _ID.fullmatch(self.id):
            raise ValueError(f"clause id {self.id!r} is not AREA-FAMILY-NNN")
        if not self.text.endswith("."):
            raise ValueError(f"{self.id}: the text must be a sentence")

    def applies_to(self, release: str) -> bool:
        """Return whether *release*, such as ``4.9.7``, is in this clause's range."""
        return range_has(release, self.since, self.until)


def release_key(release: str) -> tuple[int, ...]:
    """Return *release* as numbers that compare in release order."""
    if not re.fullmatch(r"\d+(\.\d+)*", release):
        raise ValueError(f"{release!r} is not a release such as 4.6.0")
    return tuple(int(part) for part in release.split("."))


def range_has(release: str, since: str, until: str | None) -> bool:
    """Return whether *release* is in the range; *until* 4.9 includes 4.9.7."""
    wanted = release_key(release)
    if wanted < release_key(since):
        return False
    return until is None or wanted <= _last_of(until)


def _last_of(release: str) -> tuple[int, ...]:
    """Return the key of the last release in the series *release*: 4.9 holds 4.9.7."""
    return (*release_key(release), 1_000_000)
