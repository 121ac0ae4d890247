"""
The header tables of several releases side by side: first and last release of each part.

*Since* is the first of the studied releases that has a code or field, *until* the last.
Other releases are not studied here (``request_code`` has the exact release of a code).
A code or field that every studied release has exists since 4.4 or before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spec.clause import release_key
from spec.wire.headers.header_table import Field, Header, HeaderTable, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """In which of the studied releases something is."""

    releases: tuple[str, ...]
    """Those that have it, the oldest first."""
    studied: tuple[str, ...]
    """All studied releases, the oldest first."""

    @property
    def since(self) -> str:
        """Return the first release that has it."""
        return self.releases[0]

    @property
    def until(self) -> str | None:
        """Return the last release that has it, None when the newest does."""
        return None if self.releases[-1] == self.studied[-1] else self.releases[-1]

    def __str__(self) -> str:
        """Return the releases as a range; the empty text when all have it."""
        first = "" if self.since == self.studied[0] else self.since
        if self.until == self.since:
            return f"{self.since} only"
        if self.until is not None:
            return f"until {self.until}" if not first else f"{first} to {self.until}"
        return f"since {first}" if first else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldHistory:
    """A field over the releases."""

    name: str
    versions: tuple[tuple[str, Field], ...]
    """Release and what it declares, the oldest first."""
    presence: Presence

    @property
    def newest(self) -> Field:
        """Return the declaration of the newest release that has it."""
        return self.versions[-1][1]

    @property
    def required_in(self) -> tuple[str, ...]:
        """Return the releases that require it."""
        return tuple(release for release, one in self.versions if one.required)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderHistory:
    """A header class over the releases."""

    name: str
    presence: Presence
    fields: tuple[FieldHistory, ...]
    """In the newest release's order, then those that are gone."""
    versions: tuple[tuple[str, Header], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHistory:
    """A request or response code over the releases."""

    code: int
    names: tuple[tuple[str, Presence], ...]
    """Every name of it, the newest last."""
    presence: Presence
    versions: tuple[tuple[str, Request], ...] = ()
    """Release and what the request is there; nothing for a response."""

    @property
    def name(self) -> str:
        """Return the newest name."""
        return self.names[-1][0]

    @property
    def request_headers(self) -> set[str]:
        """Return the names of all headers that the request carries in any release."""
        return {use.name for _, one in self.versions for use in one.carried}

    @property
    def answered_with(self) -> set[str]:
        """Return the names of all headers that its responses carry in any release."""
        return {use.name for _, one in self.versions for use in one.responses}

    @property
    def header_names(self) -> set[str]:
        """Return the names of all headers of requests and responses."""
        return self.request_headers | self.answered_with


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything that the studied releases declare."""

    studied: tuple[str, ...]
    requests: tuple[CodeHistory, ...]
    responses: tuple[CodeHistory, ...]
    headers: dict[str, HeaderHistory]

    def find(self, wanted: str) -> CodeHistory | None:
        """Return the request of this number or name, or None."""
        for one in self.requests:
            names = {name for name, _ in one.names}
            if wanted.upper() in names or wanted == str(one.code):
                return one
        return None


def merge(tables: Iterable[HeaderTable]) -> History:
    """Return *tables* side by side."""
    ordered = sorted(tables, key=lambda one: release_key(one.release))
    studied = tuple(one.release for one in ordered)
    return History(
        studied=studied,
        requests=tuple(_requests(ordered, studied)),
        responses=tuple(_responses(ordered, studied)),
        headers={name: _header(name, ordered, studied) for name in _names(ordered)},
    )


def _requests(
    tables: Sequence[HeaderTable], studied: tuple[str, ...]
) -> Iterable[CodeHistory]:
    for code in sorted({one.code for table in tables for one in table.requests}):
        found = [(table.release, table.request(code)) for table in tables]
        versions = tuple((release, one) for release, one in found if one is not None)
        named = [(release, one.name) for release, one in versions]
        yield CodeHistory(
            code=code,
            names=_spans(named, studied),
            presence=_presence((release for release, _ in versions), studied),
            versions=versions,
        )


def _responses(
    tables: Sequence[HeaderTable], studied: tuple[str, ...]
) -> Iterable[CodeHistory]:
    for code in sorted({one.code for table in tables for one in table.responses}):
        named = [
            (table.release, one.name)
            for table in tables
            for one in table.responses
            if one.code == code
        ]
        presence = _presence((release for release, _ in named), studied)
        yield CodeHistory(code=code, names=_spans(named, studied), presence=presence)


def _spans(
    named: Sequence[tuple[str, str]], studied: tuple[str, ...]
) -> tuple[tuple[str, Presence], ...]:
    """Return each name with the releases that use it."""
    return tuple(
        (name, _presence((at for at, used in named if used == name), studied))
        for name in dict.fromkeys(name for _, name in named)
    )


def _presence(releases: Iterable[str], studied: tuple[str, ...]) -> Presence:
    return Presence(releases=tuple(dict.fromkeys(releases)), studied=studied)


def _names(tables: Sequence[HeaderTable]) -> list[str]:
    return sorted({name for table in tables for name in table.headers})


def _header(
    name: str, tables: Sequence[HeaderTable], studied: tuple[str, ...]
) -> HeaderHistory:
    versions = tuple(
        (one.release, one.headers[name]) for one in tables if name in one.headers
    )
    names = dict.fromkeys(
        one.name for _, header in reversed(versions) for one in header.fields
    )
    return HeaderHistory(
        name=name,
        versions=versions,
        presence=_presence((release for release, _ in versions), studied),
        fields=tuple(_field(one, versions, studied) for one in names),
    )


def _field(
    name: str, headers: Sequence[tuple[str, Header]], studied: tuple[str, ...]
) -> FieldHistory:
    found = [(release, header.field(name)) for release, header in headers]
    versions = tuple((release, one) for release, one in found if one is not None)
    presence = _presence((release for release, _ in versions), studied)
    return FieldHistory(name=name, versions=versions, presence=presence)
