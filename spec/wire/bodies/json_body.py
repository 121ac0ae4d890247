"""
A JSON body is declared as a dataclass whose fields have Java's names as metadata.

fastjson writes an object's members in the order of their names and omits those that are
null. It reads them in any order, and uses Java's default for an absent one. This module
does the same. Members that a class does not declare are kept in its field ``rest``, if
it has one, and written back: a newer peer's body survives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from spec.layout import LayoutError
from spec.routing.json_object import JsonObject, as_integer, as_object
from spec.wire.bodies import fastjson

Body = TypeVar("Body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A type of JSON value: what is read from it, and how it is shown."""

    name: str
    """As tables have it: ``text``, ``list of integer``."""
    read: Callable[[object, str], Any]
    """Returns the value for JSON; gets the member's name for its errors."""
    show: Callable[[Any], object] = lambda value: value
    """Returns JSON for the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A declared member of a body."""

    java_name: str
    kind: Kind
    meaning: str
    since: str


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"{type(value).__name__} found, text expected", field=name)
    return value


def _truth(value: object, name: str) -> bool:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        reason = f"{type(value).__name__} found, true or false expected"
        raise LayoutError(reason, field=name)
    return value


def _decimal(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        reason = f"{type(value).__name__} found, a number expected"
        raise LayoutError(reason, field=name)
    try:
        return float(value)
    except OverflowError as error:
        raise LayoutError("a number too large", field=name) from error


TEXT = Kind(name="text", read=_text)
INTEGER = Kind(name="integer", read=as_integer)
TRUTH = Kind(name="true or false", read=_truth)
DECIMAL = Kind(name="decimal", read=_decimal)
ANYTHING = Kind(name="anything", read=lambda value, _: value)


def list_of(kind: Kind) -> Kind:
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


def map_of(key: Kind, kind: Kind) -> Kind:
    """Return the kind of objects from *key* to *kind*; keys may be objects too."""

    def read(value: object, name: str) -> dict[Any, Any]:
        pairs = as_object(value, name).items()
        return {key.read(k, name): kind.read(item, f"{name}.{k}") for k, item in pairs}

    def show(values: Mapping[Any, Any]) -> dict[object, object]:
        return {_as_key(key.show(k)): kind.show(v) for k, v in values.items()}

    return Kind(name=f"{kind.name} by {key.name}", read=read, show=show)


def object_of(body: type[Any]) -> Kind:
    """Return the kind of objects that the class *body* declares."""

    def read(value: object, name: str) -> Any:
        # An object that is a map's key comes as a tuple of pairs.
        whole = dict(value) if isinstance(value, tuple) else value
        return body_from_json(body, as_object(whole, name))

    return Kind(name=body.__name__, read=read, show=body_as_json)


def member(
    java_name: str,
    kind: Kind,
    meaning: str,
    *,
    default: Any = MISSING,
    since: str = "4.4",
) -> Any:
    """Return a dataclass field for the member *java_name*.

    A *default* that is a list or map must be given as a tuple or as the type itself.
    """
    declared = Member(java_name=java_name, kind=kind, meaning=meaning, since=since)
    metadata = {"member": declared}
    if default is dict:
        return field(default_factory=dict, metadata=metadata)
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def rest_of_members() -> Any:
    """Return the dataclass field that keeps undeclared members."""
    return field(default_factory=dict, metadata={"rest": True})


def members(body: type[Any]) -> Iterator[tuple[str, Member, object]]:
    """Yield field name, member and default of what *body* declares."""
    for one in fields(body):
        if "member" in one.metadata:
            made = one.default_factory is not MISSING
            yield one.name, one.metadata["member"], {} if made else one.default


def body_as_json(body: Any) -> dict[str, object]:
    """Return *body* as the object that JSON shows, its members in fastjson's order."""
    found: dict[str, object] = dict(getattr(body, "rest", {}))
    for name, declared, _ in members(type(body)):
        value = getattr(body, name)
        if value is not None:
            found[declared.java_name] = declared.kind.show(value)
    return dict(sorted(found.items()))


def body_from_json(body: type[Body], found: JsonObject) -> Body:
    """Return the *body* that the object *found* shows."""
    values: dict[str, Any] = {}
    left = {str(key): value for key, value in found.items()}
    for name, declared, default in members(body):
        value = left.pop(declared.java_name, None)
        if value is not None:
            values[name] = declared.kind.read(value, declared.java_name)
        elif default is MISSING:
            raise LayoutError("missing", field=declared.java_name)
    if any(one.metadata.get("rest") for one in fields(body)):  # type: ignore[arg-type] # a dataclass
        values["rest"] = left
    return body(**values)


def encode_body(body: object) -> bytes:
    """Return the JSON of *body*, an instance of a declared class."""
    return fastjson.dumps(body_as_json(body))


def decode_body(body: type[Body], data: bytes) -> Body:
    """Return the *body* that *data* holds."""
    return body_from_json(body, as_object(fastjson.loads(data)))


def _as_key(shown: object) -> object:
    return tuple(shown.items()) if isinstance(shown, Mapping) else shown
