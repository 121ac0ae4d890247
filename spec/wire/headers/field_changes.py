"""
Compare the fields of a header with those that stood in its place before.

What is found is a rule of ``header_rules`` and, in words, how it was broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from spec.clause import Clause
from spec.wire.headers.header_rules import (
    NOT_NARROWED,
    NOT_REMOVED,
    NOT_RENAMED,
    NOT_REQUIRED_LATER,
)
from spec.wire.headers.header_table import Field, Header

ALIKE = 0.5
"""Similarity, from 0 to 1, from which on two names are one that was changed."""

WHOLE_NUMBERS: Mapping[str, int] = {"int": 1, "Integer": 1, "long": 2, "Long": 2}
"""Types of which those of a greater number hold the values of those of a smaller."""
DECIMALS = frozenset({"double", "Double"})
TRUTHS = frozenset({"boolean", "Boolean"})


Broken = tuple[str, Clause, str]
"""The field's name, the rule, and how it was broken."""


def field_changes(was: Header, now: Header, old: str) -> Iterator[Broken]:
    """Yield violations of the fields of *now* against those of *was*, in *old*."""
    renamed = renamed_fields(was, now)
    for field in now.fields:
        before = was.field(field.name)
        if before is None and field.name not in renamed.values() and field.required:
            text = f"required, and new: {old} does not send it"
            yield field.name, NOT_REQUIRED_LATER, text
        if before is not None:
            for rule, text in _broken_by_kept(before, field, old):
                yield field.name, rule, text
    for field in was.fields:
        if field.name in renamed:
            text = f"is called {renamed[field.name]}: each release ignores the other's"
            yield field.name, NOT_RENAMED, text
        elif now.field(field.name) is None:
            text = f"is gone: what {old} sends in it is passed over"
            text += f", and {old} requires it" * field.required
            yield field.name, NOT_REMOVED, text


def _broken_by_kept(
    before: Field, field: Field, old: str
) -> Iterator[tuple[Clause, str]]:
    """Yield violations of a field that has kept its name."""
    if field.required and not before.required:
        yield NOT_REQUIRED_LATER, f"required, was not: {old} may leave it out"
    if not holds(field.java_type, before.java_type):
        yield NOT_NARROWED, f"is {field.java_type}, was {before.java_type}"


def renamed_fields(was: Header, now: Header) -> dict[str, str]:
    """Return the fields that seem to have got another name, old name to new."""
    gone = [one for one in was.fields if now.field(one.name) is None]
    come = [one for one in now.fields if was.field(one.name) is None]
    likely = [
        (alike(before.name, after.name), before.name, after.name)
        for before in gone
        for after in come
        if holds(after.java_type, before.java_type)
    ]
    found: dict[str, str] = {}
    for likeness, before_name, after_name in sorted(likely, reverse=True):
        is_free = before_name not in found and after_name not in found.values()
        if likeness >= ALIKE and is_free:
            found[before_name] = after_name
    return found


def holds(new: str, old: str) -> bool:
    """Return whether a field of type *new* takes every value of type *old*."""
    if new in {old, "String"} or {new, old} <= TRUTHS or {new, old} <= DECIMALS:
        return True
    if new in DECIMALS:
        return old in WHOLE_NUMBERS
    return WHOLE_NUMBERS.get(new, 0) >= WHOLE_NUMBERS.get(old, 3)


def alike(some: str, other: str) -> float:
    """Return the similarity of two names, from 0 to 1."""
    return SequenceMatcher(None, some.lower(), other.lower()).ratio()
