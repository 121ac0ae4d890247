"""
Header fields of every request and response, in each of the releases studied.

A command's header fields have names only in Java's header classes. The class of a
request code is visible only in the code that sends and reads it. Tables of both were
read from the releases' class files into ``fixtures/headers``, one JSON file a release,
with a schema beside them. Here they become objects; this module reads no file.
``header_history`` lays the releases side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DERIVED = "derived"
"""The source of a path that the class files show."""

NOT_YET = -1
"""Code of a broker's response before the request is processed."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a header."""

    name: str
    """The name that travels."""
    java_type: str
    """Java's type; on the wire every value is text."""
    required: bool
    """Whether Java marks it as never null (Java: CFNotNull)."""
    default: str | None
    """Receiver's value if it is absent, in its encoded form; None is null."""
    long_name: str = ""
    """Full name of a field with a short name."""
    resource: str = ""
    """TOPIC, GROUP or CLUSTER, if Java annotates the field as the name of one."""
    declared_in: str = ""
    """The class that declares it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FastCodec:
    """The names that a header's own code handles, where reflection is not used."""

    writes: frozenset[str]
    reads: frozenset[str]
    requires: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The fields of one header class."""

    name: str
    fields: tuple[Field, ...] = ()
    abstract: bool = False
    """Whether it only lends its fields to others."""
    checks_fields: bool = False
    """Whether it has a check of its own of the values (Java: checkFields)."""
    needs: tuple[str, ...] = ()
    """Permissions for its request, if Java declares them."""
    fast_codec: FastCodec | None = None

    def field(self, name: str) -> Field | None:
        """Return the field with the encoded name *name*, or None."""
        return next((one for one in self.fields if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderUse:
    """A header that a request or a response carries."""

    name: str
    written_in: tuple[str, ...] = ()
    """Methods that make it, as ``package.Class#method``."""
    read_in: tuple[str, ...] = ()
    """Methods that read it."""

    @property
    def is_shared(self) -> bool:
        """Return whether both sides use this class."""
        return bool(self.written_in and self.read_in)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Direction of a request: its sender and its receiver."""

    sender: str
    receiver: str
    source: str = DERIVED
    """The method that shows it, if no class file of the release does."""

    def __str__(self) -> str:
        return f"{self.sender} → {self.receiver}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Headers of one request code."""

    code: int
    name: str
    headers: tuple[HeaderUse, ...] = ()
    """The headers that it is sent or read with; those of both sides come first."""
    responses: tuple[HeaderUse, ...] = ()
    """The headers of its response."""
    extra_fields: tuple[str, ...] = ()
    """Fields of no header that are set or read by name."""
    response_extra_fields: tuple[str, ...] = ()
    """Fields that the receiver sets in its response beside those of the header."""
    bodies: tuple[str, ...] = ()
    """Classes of its body, as far as Java has some."""
    response_bodies: tuple[str, ...] = ()
    """Classes of its response's body."""
    response_codes: tuple[int, ...] = ()
    """Response codes that the receiver sets, apart from 1 where it fails."""
    other_response_codes: bool = False
    """Whether it sets others too, which its code does not show."""
    handled_in: tuple[str, ...] = ()
    """Classes that are registered to process it."""
    paths: tuple[Path, ...] = ()

    @property
    def carried(self) -> tuple[HeaderUse, ...]:
        """Return the headers of both sides; all, when the sides' classes differ.

        A receiver may try another header than it is sent, as SEND_MESSAGE_V2's does.
        """
        shared = tuple(one for one in self.headers if one.is_shared)
        return shared or self.headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One response code."""

    code: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTable:
    """The header table of one release."""

    release: str
    requests: tuple[Request, ...] = ()
    responses: tuple[Response, ...] = ()
    headers: Mapping[str, Header] = field(default_factory=dict)
    """Every header class by its simple name."""

    def request(self, code: int) -> Request | None:
        """Return the headers of *code*, or None if the release does not have it."""
        return next((one for one in self.requests if one.code == code), None)


def read_table(parsed: Json) -> HeaderTable:
    """Return the table that the parsed JSON of a file in ``fixtures/headers`` holds."""
    if parsed.get("schema") != 1:
        raise ValueError(f"a header table of schema {parsed.get('schema')!r}, not 1")
    return HeaderTable(
        release=parsed["release"],
        requests=tuple(_request(one) for one in parsed["requests"]),
        responses=tuple(
            Response(code=one["code"], name=one["name"]) for one in parsed["responses"]
        ),
        headers={name: _header(name, one) for name, one in parsed["headers"].items()},
    )


def _request(one: Json) -> Request:
    return Request(
        code=one["code"],
        name=one["name"],
        headers=_uses(one["headers"], written="sent_in"),
        responses=_uses(one["answers"], written="written_in"),
        extra_fields=_names(one["extra_fields"]),
        response_extra_fields=_names(one["answer_extra_fields"]),
        bodies=_names(one["bodies"]),
        response_bodies=_names(one["answer_bodies"]),
        response_codes=tuple(code for code in one["answer_codes"] if code != NOT_YET),
        other_response_codes=one["other_answer_codes"],
        handled_in=tuple(one["handled_in"]),
        paths=tuple(
            Path(sender=path["from"], receiver=path["to"], source=path["source"])
            for path in one["paths"]
        ),
    )


def _names(found: Sequence[Json]) -> tuple[str, ...]:
    return tuple(one["name"] for one in found)


def _uses(found: Sequence[Json], *, written: str) -> tuple[HeaderUse, ...]:
    return tuple(
        HeaderUse(
            name=one["name"],
            written_in=tuple(one[written]),
            read_in=tuple(one["read_in"]),
        )
        for one in found
    )


def _header(name: str, one: Json) -> Header:
    codec = one.get("fast_codec")
    return Header(
        name=name,
        fields=tuple(_field(found) for found in one["fields"]),
        abstract=one.get("abstract", False),
        checks_fields=one.get("checks_fields", False),
        needs=tuple(one.get("action", {}).get("needs", ())),
        fast_codec=codec and FastCodec(**{k: frozenset(v) for k, v in codec.items()}),
    )


def _field(one: Json) -> Field:
    return Field(
        name=one["name"],
        java_type=one["type"],
        required=one["required"],
        default=one["default"],
        long_name=one.get("long_name", ""),
        resource=one.get("resource", ""),
        declared_in=one["declared_in"],
    )
