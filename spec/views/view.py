"""
A view shows one structure to a person: its fields, its bytes, and related clauses.

The ids of clauses stand beside the fields. Below stand the sentences that do not hold
for every release, and their public issues.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from construct import Struct

from spec.clause import Clause
from spec.explain import WRONG, explain, explained_fields, show_bytes
from spec.wire.headers.header_table import HeaderTable

FIRST_RELEASE = "4.4"
"""A clause that begins here and has no end holds for every release."""

LOG_OFFSET_MAX = 2**48
"""No commit log reaches 256 TiB; an id that names a larger offset is another id."""

FieldClauses = Mapping[str, tuple[Clause, ...]]
"""The clauses about each field of a layout, and under "" those about the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """Recognised kind of bytes."""

    kind: str
    """Such as ``message record``; a name of KINDS."""
    text: str
    """The explanation, several lines."""
    size: int
    """Bytes that were explained; the next thing begins after them."""
    is_sound: bool = True
    """Whether nothing is wrong with it, its checksum included."""
    record_offset: int | None = None
    """Commit-log offset of the record that it points at, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Interpretation of bytes."""

    release: str | None = None
    """Release of the bytes' writer, or None if unknown."""
    slot_count: int | None = None
    """Slots of the index file that they are from."""
    is_brief: bool = False
    """Whether differences between releases and public issues are left out."""
    is_full: bool = False
    """Whether long values and all rows of hex are shown whole."""
    headers: Mapping[str, HeaderTable] = field(default_factory=dict)
    """Header fields of commands, by release."""

    def holds(self, clause: Clause) -> bool:
        """Return whether *clause* is about such bytes."""
        return self.release is None or clause.applies_to(self.release)


PLAINLY = Reading()


def tree(
    layout: Struct,
    data: bytes,
    reading: Reading,
    clauses: FieldClauses,
    *,
    wrong: Collection[str] = (),
    base: int = 0,
) -> str:
    """Return the fields and the hex of *data*, with what each field means."""
    remarks = {
        one.name: _remark(one.meaning, clauses.get(one.name, ()), reading)
        for one in explained_fields(layout, data)
    }
    is_full = reading.is_full
    return explain(
        layout, data, wrong=wrong, base=base, remarks=remarks, is_full=is_full
    )


def _remark(meaning: str, clauses: tuple[Clause, ...], reading: Reading) -> str:
    ids = " ".join(one.id for one in clauses if reading.holds(one))
    return f"{meaning} [{ids}]" if ids else meaning


def to_know(clauses: FieldClauses, reading: Reading) -> list[str]:
    """Return the lines that stand below a view, none in a brief reading."""
    if reading.is_brief:
        return []
    found = {one.id: one for row in clauses.values() for one in row}
    known = [found[name] for name in sorted(found) if reading.holds(found[name])]
    where = f" ({reading.release})" if reading.release else ""
    special = [one for one in known if one.until or one.since != FIRST_RELEASE]
    hurt = [one for one in known if one.issues]
    about = " ".join(one.id for one in clauses.get("", ()) if reading.holds(one))
    sections = {
        "  clauses": [f"    {about}"] if about else [],
        f"  by release{where}": [
            f"    {_range(one)}: {one.text} [{one.id}]" for one in special
        ],
        "  known issues": [
            f"    {', '.join(one.issues)}: {one.text} [{one.id}]" for one in hurt
        ],
    }
    return [
        line
        for title, lines in sections.items()
        if lines
        for line in ("", title, *lines)
    ]


def _range(one: Clause) -> str:
    if one.until is None:
        return f"since {one.since}"
    if one.since == FIRST_RELEASE:
        return f"up to {one.until}"
    if one.since == one.until:
        return f"only {one.since}"
    return f"{one.since} to {one.until}"


def note(mark: str, name: str, value: object) -> str:
    """Return a line about the whole thing; *mark* is a space or a cross."""
    return f"  {mark} {name}: {value}"


def wrong_notes(wrong: Mapping[str, str]) -> list[str]:
    """Return a line for every field in *wrong*, with the reason."""
    return [note(WRONG, name, reason) for name, reason in wrong.items()]


def safe(text: str, *, is_full: bool = False) -> str:
    """Return *text* escaped for a terminal, so that a peer cannot inject controls."""
    try:
        return show_bytes(text.encode("utf-8", "surrogateescape"), is_full=is_full)
    except UnicodeEncodeError:
        return ascii(text)


def paragraphs(*parts: str | list[str]) -> str:
    """Return *parts*, texts or lines, as one text with an empty line between them."""
    texts = ("\n".join(one) if isinstance(one, list) else one for one in parts)
    return "\n\n".join(one.strip("\n") for one in texts if one)
