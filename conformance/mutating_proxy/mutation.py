"""
Mutation: one wrong thing in the frames of one request code.

Most change a value at one place of a frame. The others are the verbs of clauses. A
response never comes, comes twice or late. A request is executed twice or not at all. A
notification goes to another client.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from conformance.mutating_proxy.changes import (
    CHANGES,
    DROP,
    OF_ROWS,
    SAME,
    Setting,
    changes_of,
)
from conformance.mutating_proxy.declared_fields import (
    is_declared,
    is_default,
    is_number,
    is_truth,
)
from conformance.mutating_proxy.frame_tree import KIND, RECORDS, Tree
from conformance.mutating_proxy.places import (
    NO_KEY,
    Occurrence,
    kind_of,
    occurrences_of,
)
from spec.wire.remoting.request_code import request_name


class FrameKind(StrEnum):
    """Kind of a frame, by its direction."""

    RESPONSE = "response"
    """The target's response to a request of the suite."""
    RESTARTED = "response after a restart"
    """The same, of a target that was started before."""
    REQUEST = "request"
    """A request of the suite. A changed one is a request that the target misreads."""
    NOTIFICATION = "notification"
    """A request of the target to a client of the suite."""


class Verb(StrEnum):
    """Things that go wrong with a whole frame."""

    NEVER = "never"
    TWICE = "twice"
    LATE = "late"
    CLOSED = "connection closed"
    OTHER_OPAQUE = "another opaque"
    ERROR = "an error instead"
    SUCCESS = "success instead of an error"
    PREVIOUS = "previous response"
    TO_ANOTHER = "to another client"
    LOST = "acknowledged, not executed"
    DELAYED = "acknowledged before executed"
    ONCE = "only the first executed"


_OF_RESPONSES = (
    *(Verb.NEVER, Verb.TWICE, Verb.LATE, Verb.CLOSED, Verb.OTHER_OPAQUE),
    *(Verb.ERROR, Verb.SUCCESS, Verb.PREVIOUS),
)
VERBS: Mapping[FrameKind, tuple[Verb, ...]] = {
    FrameKind.RESPONSE: _OF_RESPONSES,
    FrameKind.RESTARTED: _OF_RESPONSES,
    FrameKind.REQUEST: (Verb.LOST, Verb.TWICE, Verb.DELAYED, Verb.ONCE),
    FrameKind.NOTIFICATION: (Verb.NEVER, Verb.TWICE, Verb.LATE, Verb.TO_ANOTHER),
}
FRAME = "(frame)"
"""Place of a verb."""
FIXED = ("code", "flag", "opaque", "version", "serialize_type", "language")
"""Members of every header: they cannot be left out."""
OF_REQUESTS = ("fields.", "body")
"""Beginnings of the places in a request that may be misread."""


class Unit(NamedTuple):
    """A kind of value that a test meets: the place, in the frames of one code."""

    frame_kind: str
    code: int
    place: str
    kind: str


@dataclass(frozen=True, slots=True, order=True)
class Mutation:
    """One wrong thing in the frames of one request code."""

    frame_kind: FrameKind
    code: int
    place: str
    change: str

    def __str__(self) -> str:
        return (
            f"{self.frame_kind} {request_name(self.code)} {self.place}: {self.change}"
        )

    @property
    def is_verb(self) -> bool:
        """Whether it is about whole frames."""
        return self.place == FRAME


def mutations_of(units: Collection[Unit]) -> list[Mutation]:
    """Return every mutation of the *units*, in order."""
    tables = {
        (unit.frame_kind, unit.code, unit.place.removesuffix(NO_KEY))
        for unit in units
        if unit.place.endswith(NO_KEY)
    }
    found = {
        one
        for unit in units
        for one in _of_unit(unit)
        if unit.kind != "map" or one.change not in OF_ROWS or unit[:3] in tables
    }
    return sorted(found)


def _of_unit(unit: Unit) -> Iterator[Mutation]:
    frame_kind = FrameKind(unit.frame_kind)
    for verb in VERBS[frame_kind]:
        yield Mutation(frame_kind, unit.code, FRAME, verb)
    if frame_kind is FrameKind.REQUEST and not unit.place.startswith(OF_REQUESTS):
        return
    if not _is_of_header(unit):
        return
    if unit.place == FRAME or (unit.place.endswith("[]") and unit.kind == "map"):
        return
    for change in changes_of(unit.place, unit.kind):
        is_fixed = unit.place in FIXED
        if not is_fixed or change == "off by one":
            yield Mutation(frame_kind, unit.code, unit.place, change)


def _is_of_header(unit: Unit) -> bool:
    """Return whether a header field of *unit* is one that a release declares."""
    part, _, name = unit.place.partition(".")
    name = name.partition(".")[0].removesuffix(NO_KEY)
    in_response = _is_response(unit.frame_kind)
    return part != "fields" or is_declared(unit.code, name, in_response=in_response)


def change_tree(tree: Tree, mutation: Mutation, setting: Setting) -> bool:
    """Change the values of *tree* at the place of *mutation*; return if it has some."""
    change = CHANGES[mutation.change]
    setting = replace(setting, unread=_unread_fields(tree, mutation))
    found = occurrences_of(tree, mutation.place)
    news = [(one, change(one, setting)) for one in found]
    changed = [
        (one, new)
        for one, new in news
        if new is not SAME and _is_read(mutation, one, new)
    ]
    for one, new in reversed(changed):
        _replace(tree, one, new)
    return bool(changed)


def _is_read(mutation: Mutation, one: Occurrence, new: Any) -> bool:
    """Return whether a receiver reads another value if *one* becomes *new*.

    A text in place of a number is already wrong. A field that is left out has its
    default. Each text but true is false.
    """
    if one.place.rpartition(".")[0] != "fields":
        return True
    in_response = _is_response(mutation.frame_kind)
    code, name, value = mutation.code, str(one.key), one.value
    if is_number(code, name, in_response=in_response) and kind_of(value) != "number":
        return False
    if new is DROP:
        return not is_default(code, name, value, in_response=in_response)
    if not is_truth(code, name, in_response=in_response):
        return True
    return (str(value).lower() == "true") != (str(new).lower() == "true")


def _unread_fields(tree: Tree, mutation: Mutation) -> frozenset[str]:
    """Return the header fields beside the changed one that no release declares."""
    if mutation.place.rpartition(".")[0] != "fields":
        return frozenset()
    in_response = _is_response(mutation.frame_kind)
    return frozenset(
        name
        for name in tree["fields"]
        if not is_declared(mutation.code, name, in_response=in_response)
    )


def _is_response(frame_kind: str) -> bool:
    return frame_kind in (FrameKind.RESPONSE, FrameKind.RESTARTED)


def _replace(tree: Tree, one: Occurrence, new: Any) -> None:
    if new is DROP:
        _drop(tree, one)
        return
    one.holder[one.key] = new
    if tree[KIND] == RECORDS and one.place == "body[].size":
        one.holder["size was changed"] = True


def _drop(tree: Tree, one: Occurrence) -> None:
    if one.holder is tree:
        tree[one.key] = {"body": b"", "fields": {}}.get(one.key)
    else:
        del one.holder[one.key]
