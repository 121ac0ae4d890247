"""
The form of a file of test vectors, which is that of project Wycheproof's.

A file has groups, a group tests of one type. A test has bytes or texts, their meaning,
and a result. ``valid`` must be read, and without a flag also written so. ``invalid``
must be refused. ``acceptable`` is read by some releases and not by others. Flags
explain the special point, in words and with the ids of clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from spec.clause import Clause
from spec.derive.outline import Form, Integer, Structure, suitable_outlines
from spec.host import Host
from spec.layouts import LAYOUTS

Members = Mapping[str, Any]


class Result(StrEnum):
    """Required result of reading a test."""

    VALID = "valid"
    ACCEPTABLE = "acceptable"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Something special about tests."""

    meaning: str
    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One test."""

    comment: str
    members: Members
    """Members of the group's type: bytes, values, and so on."""
    result: Result = Result.VALID
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tests of one type."""

    type: str
    """A name that schema.json explains."""
    tests: tuple[Vector, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFile:
    """All tests about one thing."""

    algorithm: str
    meaning: str
    flags: Mapping[str, Flag]
    groups: Sequence[Group]


def as_plain(file: VectorFile) -> dict[str, Any]:
    """Return *file* as JSON has it; tests are numbered from 1 in their order."""
    numbers = iter(range(1, 1_000_000))
    groups = [
        {
            "type": group.type,
            "tests": [_test(one, next(numbers)) for one in group.tests],
        }
        for group in file.groups
    ]
    return {
        "algorithm": file.algorithm,
        "schema": "schema.json",
        "numberOfTests": sum(len(group.tests) for group in file.groups),
        "header": [file.meaning],
        "notes": {
            name: {"description": one.meaning, "clauses": [c.id for c in one.clauses]}
            for name, one in sorted(file.flags.items())
        },
        "testGroups": groups,
    }


def _test(one: Vector, number: int) -> dict[str, Any]:
    return {
        "tcId": number,
        "comment": one.comment,
        "flags": sorted(one.flags),
        **{name: plain(value) for name, value in one.members.items()},
        "result": str(one.result),
    }


def values_of(thing: Any) -> dict[str, Any]:
    """Return the members of a dataclass, 64-bit integers as strings, hosts as text."""
    found = {name: getattr(thing, name) for name in asdict(thing)}
    return {
        name: str(value) if name in LONG_FIELDS else value
        for name, value in found.items()
    }


def plain(value: Any) -> Any:
    """Return *value* as JSON has it: bytes as hex, hosts as text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Host):
        return str(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _long_fields() -> Iterator[str]:
    for structure in suitable_outlines(LAYOUTS)[0].values():
        yield from _long(structure)


def _long(form: Form) -> Iterator[str]:
    if not isinstance(form, Structure):
        return
    for one in form.fields:
        if isinstance(one.form, Integer) and one.form.size == 8:
            yield one.name
        yield from _long(one.form)


LONG_FIELDS = frozenset(_long_fields())
"""Fields of 64 bits: strings, for not every reader of JSON keeps such numbers."""
