"""
A JSON body is declared as a class whose fields are annotated with Java's names.

fastjson writes an object's members in the order of their names and omits those that are
null. It reads them in any order, and uses Java's default for an absent one. This module
does the same, by the type of each field. An :class:`OpenBody` keeps the members that it
does not declare and writes them back: a newer peer's body survives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import (
    JsonObject,
    as_integer,
    as_object,
    as_text,
    as_truth,
)


class Body(Struct, frozen=True, kw_only=True):
    """A JSON object with the members that its fields declare."""


class OpenBody(Body, frozen=True, kw_only=True):
    """A body that has further members."""

    rest: Mapping[str, object] = {}
    """Those that are not declared, by name."""


AnyBody = TypeVar("AnyBody", bound=Body)


class Member(NamedTuple):
    """A declared member of a body, as the annotation of its field."""

    java_name: str
    meaning: str = ""
    since: str = "4.4"
    alternate: str = ""
    """A second name that is only read (fastjson: alternateNames)."""


class Kind(NamedTuple):
    """A type of JSON value: what is read from it, and how it is shown."""

    name: str
    """As tables have it: ``text``, ``list of integer``."""
    read: Callable[[object, str], Any]
    """Returns the value for JSON; gets the member's name for its errors."""
    show: Callable[[Any], object] = lambda value: value
    """Returns JSON for the value."""


class DeclaredMember(NamedTuple):
    """A field of a body, and the member it stands for."""

    field: str
    member: Member
    kind: Kind
    default: object
    """NODEFAULT, if the member must be there."""


def _decimal(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        reason = f"{type(value).__name__} found, a number expected"
        raise LayoutError(reason, field=name)
    try:
        return float(value)
    except OverflowError as error:
        raise LayoutError("a number too large", field=name) from error


_PLAIN = {
    str: Kind("text", as_text),
    int: Kind("integer", as_integer),
    bool: Kind("true or false", as_truth),
    float: Kind("decimal", _decimal),
    object: Kind("anything", lambda value, _: value),
}


def kind_of(hint: Any) -> Kind:
    """Return the kind of a field's type *hint*; None in it means an absent member."""
    arguments = get_args(hint)
    if get_origin(hint) is tuple:
        return _list_of(kind_of(arguments[0]))
    if get_origin(hint) is Mapping:
        return _map_of(*map(kind_of, arguments))
    if arguments:
        return kind_of(next(one for one in arguments if one is not type(None)))
    return _PLAIN[hint] if hint in _PLAIN else _object_of(hint)


def _list_of(kind: Kind) -> Kind:
    """Return the kind of arrays of *kind*, read as tuples."""

    def read(value: object, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            reason = f"{type(value).__name__} found, a list expected"
            raise LayoutError(reason, field=name)
        return tuple(kind.read(item, name) for item in value)

    return Kind(
        name=f"list of {kind.name}",
        read=read,
        show=lambda values: [kind.show(value) for value in values],
    )


def _map_of(key: Kind, kind: Kind) -> Kind:
    """Return the kind of objects from *key* to *kind*; keys may be objects too."""

    def read(value: object, name: str) -> dict[Any, Any]:
        pairs = as_object(value, name).items()
        return {key.read(k, name): kind.read(item, f"{name}.{k}") for k, item in pairs}

    def show(values: Mapping[Any, Any]) -> dict[object, object]:
        return {_as_key(key.show(k)): kind.show(v) for k, v in values.items()}

    return Kind(name=f"{kind.name} by {key.name}", read=read, show=show)


def _object_of(body: type[Body]) -> Kind:
    """Return the kind of objects that the class *body* declares."""

    def read(value: object, name: str) -> Any:
        # An object that is a map's key comes as a tuple of pairs.
        whole = dict(value) if isinstance(value, tuple) else value
        return body_from_json(body, as_object(whole, name))

    return Kind(name=body.__name__, read=read, show=body_as_json)


@cache
def members(body: type[Body]) -> tuple[DeclaredMember, ...]:
    """Return the members that *body* declares."""
    hints = get_type_hints(body, include_extras=True)
    found = []
    for one in fields(body):
        type_hint, *annotations = get_args(hints[one.name])
        if annotations and isinstance(annotations[0], Member):
            default = {} if one.default_factory is dict else one.default
            kind = kind_of(type_hint)
            found.append(DeclaredMember(one.name, annotations[0], kind, default))
    return tuple(found)


def body_as_json(body: Body) -> dict[str, object]:
    """Return *body* as the object that JSON shows, its members in fastjson's order."""
    found: dict[str, object] = dict(body.rest) if isinstance(body, OpenBody) else {}
    for name, member, kind, _ in members(type(body)):
        value = getattr(body, name)
        if value is not None:
            found[member.java_name] = kind.show(value)
    return dict(sorted(found.items()))


def body_from_json(body: type[AnyBody], found: JsonObject) -> AnyBody:
    """Return the *body* that the object *found* shows."""
    values: dict[str, Any] = {}
    left = {str(key): value for key, value in found.items()}
    for name, member, kind, default in members(body):
        second = left.pop(member.alternate, None) if member.alternate else None
        value = left.pop(member.java_name, second)
        if value is not None:
            values[name] = kind.read(value, member.java_name)
        elif default is NODEFAULT:
            raise LayoutError("missing", field=member.java_name)
    if issubclass(body, OpenBody):
        values["rest"] = left
    return body(**values)


def encode_body(body: Body) -> bytes:
    """Return the JSON of *body*."""
    return fastjson.dumps(body_as_json(body))


def decode_body(body: type[AnyBody], data: bytes) -> AnyBody:
    """Return the *body* that *data* holds."""
    return body_from_json(body, as_object(fastjson.loads(data)))


def _as_key(shown: object) -> object:
    return tuple(shown.items()) if isinstance(shown, Mapping) else shown
