"""Header tables of the releases: fields of a request code, and its sender."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from conformance.harness.targets.started.embedded import SOURCES
from spec.wire.headers.header_table import Field, Header, HeaderTable, read_table

FOLDER = SOURCES / "fixtures" / "headers"


TRUTHS = ("boolean", "Boolean")
"""Java's types of fields whose text is a truth: true, or any other text for false."""
NUMBERS = ("int", "Integer", "long", "Long")
"""Java's types of fields whose text is a number."""


def is_declared(code: int, field: str, *, in_response: bool) -> bool:
    """Return whether a release declares *field* for requests or responses of *code*."""
    return field in _fields(code, in_response)


def is_number(code: int, field: str, *, in_response: bool) -> bool:
    """Return whether the text of *field* is a number in all releases."""
    found = _declarations(code, field, in_response)
    return bool(found) and all(one.java_type in NUMBERS for one in found)


def is_truth(code: int, field: str, *, in_response: bool) -> bool:
    """Return whether the text of *field* is a Java boolean in all releases."""
    found = _declarations(code, field, in_response)
    return bool(found) and all(one.java_type in TRUTHS for one in found)


def is_default(code: int, field: str, value: object, *, in_response: bool) -> bool:
    """Return whether *value* is the one that a receiver reads if *field* is absent."""
    found = _declarations(code, field, in_response)
    is_optional = not any(one.required for one in found)
    defaults = {one.default for one in found} - {None}
    return is_optional and list(defaults) == [value]


@cache
def is_of_client(code: int) -> bool:
    """Return whether a client of a release sends or receives requests of *code*."""
    requests = (table.request(code) for table in _tables())
    return any(
        "client" in (path.sender, path.receiver)
        for request in requests
        if request is not None
        for path in request.paths
    )


@cache
def _declarations(code: int, field: str, in_response: bool) -> tuple[Field, ...]:
    """Return *field* as each release declares it, in its headers for *code*."""
    return tuple(
        one
        for table in _tables()
        for header in _headers(table, code, in_response)
        for one in header.fields
        if one.name == field
    )


@cache
def _fields(code: int, in_response: bool) -> frozenset[str]:
    return frozenset(
        name for table in _tables() for name in _of_table(table, code, in_response)
    )


def _of_table(table: HeaderTable, code: int, in_response: bool) -> Iterator[str]:
    request = table.request(code)
    if request is None:
        return
    yield from request.response_extra_fields if in_response else request.extra_fields
    for header in _headers(table, code, in_response):
        yield from (one.name for one in header.fields)


def _headers(table: HeaderTable, code: int, in_response: bool) -> Iterator[Header]:
    """Yield the headers of requests or responses of *code* in one release."""
    request = table.request(code)
    if request is not None:
        for use in request.responses if in_response else request.headers:
            if header := table.headers.get(use.name):
                yield header


@cache
def _tables() -> tuple[HeaderTable, ...]:
    files = sorted(Path(FOLDER).glob("[0-9]*.json"))
    return tuple(read_table(json.loads(file.read_text())) for file in files)
