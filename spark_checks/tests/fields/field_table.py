"""
Table of all fields of a store's structures: the invariant that detects a wrong value.

The data is in fields.toml. A field without an entry is an error, and so is an entry
without a field.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from spark_checks.tests.fields.config_members import config_members
from spark_checks.tests.fields.field_places import STRUCTURES, field_names

PATH = Path(__file__).with_name("fields.toml")
EVERY = "every"
NOTHING = "-"
OR = "/"
AT_UNIT = "unit"
SOMETIMES = "sometimes"


class Wrong(StrEnum):
    """Kind of wrong value."""

    ZERO = "zero"
    MAXIMUM = "maximum"
    """The largest number, or bytes of 255."""
    NEGATIVE = "negative"
    """-1. Bytes and unsigned numbers have no such value."""
    PLUS_ONE = "plus_one"
    """One more; for bytes, in the last byte."""
    NEIGHBOUR = "neighbour"
    """Value of the next structure, or of the previous one at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Finding about a wrong value."""

    findings: tuple[str, ...]
    """Ids of invariants, of which one detects the value; empty if none does."""
    is_at_unit: bool = False
    """Whether the finding is at the consume-queue unit that belongs to the place."""
    is_certain: bool = True
    """Whether an audit always detects the value, or never does."""

    @classmethod
    def of(cls, text: str) -> Outcome:
        """Return the outcome that *text* of fields.toml describes."""
        finding, *words = text.split()
        if unknown := set(words) - {AT_UNIT, SOMETIMES}:
            raise TableError(f"{sorted(unknown)} is not a part of an outcome")
        return cls(
            findings=() if finding == NOTHING else tuple(finding.split(OR)),
            is_at_unit=AT_UNIT in words,
            is_certain=SOMETIMES not in words,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Outcomes of the wrong values of one field."""

    outcomes: Mapping[str, Outcome]
    """Outcome by kind of wrong value, or by EVERY."""
    why: str
    """Reason why some kinds are not always detected; empty if all are."""

    def outcome(self, wrong: Wrong) -> Outcome:
        """Return the outcome of *wrong*."""
        return self.outcomes.get(wrong, self.outcomes[EVERY])


class TableError(ValueError):
    """fields.toml does not match the layouts."""


@cache
def field_table() -> Mapping[str, Mapping[str, Entry]]:
    """Return the entries by structure and field; raises TableError."""
    with PATH.open("rb") as opened:
        found = tomllib.load(opened)
    declared = declared_fields()
    for name in [*declared, *found]:
        fields, listed = declared.get(name, []), list(found.get(name, {}))
        if fields != listed:
            lacking, unknown = set(fields) - {*listed}, set(listed) - {*fields}
            raise TableError(
                f"{PATH.name}, {name}: no entry of {sorted(lacking)}, unknown"
                f" {sorted(unknown)}; the order is {fields}"
            )
    return {
        name: {field: _entry(f"{name}.{field}", row) for field, row in rows.items()}
        for name, rows in found.items()
    }


def declared_fields() -> Mapping[str, list[str]]:
    """Return the fields that the specification declares, by structure or file."""
    of_layouts = {name: field_names(layout) for name, layout in STRUCTURES.items()}
    return of_layouts | dict(config_members())


def _entry(place: str, row: Mapping[str, str]) -> Entry:
    outcomes = {kind: Outcome.of(text) for kind, text in row.items() if kind != "why"}
    if EVERY not in outcomes or set(outcomes) - {EVERY, *Wrong}:
        raise TableError(f"{place} has the kinds {sorted(outcomes)}")
    has_doubt = any(not (one.findings and one.is_certain) for one in outcomes.values())
    if has_doubt != ("why" in row):
        raise TableError(
            f"{place} needs a reason exactly if a kind may stay undetected"
        )
    return Entry(outcomes=outcomes, why=row.get("why", ""))


def table_rows() -> list[str]:
    """Return the table as rows of Markdown, in the order of the structures."""
    return [
        f"| `{structure}.{name}` | {_detected(entry)} | {_undetected(entry)} |"
        for structure, entries in field_table().items()
        for name, entry in entries.items()
    ]


def _detected(entry: Entry) -> str:
    """Return the invariants of *entry*, each with its kinds."""
    kinds: dict[str, list[str]] = {}
    for kind, outcome in entry.outcomes.items():
        if outcome.findings:
            words = _in_words(kind, entry)
            words = words if outcome.is_certain else f"{words} (sometimes)"
            kinds.setdefault(" or ".join(outcome.findings), []).append(words)
    return "; ".join(f"{', '.join(some)}: {one}" for one, some in kinds.items())


def _undetected(entry: Entry) -> str:
    """Return the kinds of *entry* that no audit detects, and the reason."""
    kinds = [kind for kind, one in entry.outcomes.items() if not one.findings]
    words = ", ".join(_in_words(kind, entry) for kind in kinds)
    return f"{words}: {entry.why}" if kinds else entry.why


def _in_words(kind: str, entry: Entry) -> str:
    if kind != EVERY:
        return kind.replace("_", " ")
    return "others" if len(entry.outcomes) > 1 else "all"
