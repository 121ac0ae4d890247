"""Header tables of the releases: fields of a request code, and its sender."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from conformance.harness.targets.started.embedded import SOURCES
from spec.wire.headers.header_table import HeaderTable, read_table

FOLDER = SOURCES / "fixtures" / "headers"


def is_declared(code: int, field: str, *, in_response: bool) -> bool:
    """Return whether a release declares *field* for requests or responses of *code*."""
    return field in _fields(code, in_response)


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
def _fields(code: int, in_response: bool) -> frozenset[str]:
    return frozenset(
        name for table in _tables() for name in _of_table(table, code, in_response)
    )


def _of_table(table: HeaderTable, code: int, in_response: bool) -> Iterator[str]:
    request = table.request(code)
    if request is None:
        return
    yield from request.answer_extra_fields if in_response else request.extra_fields
    for use in request.answers if in_response else request.headers:
        header = table.headers.get(use.name)
        yield from (one.name for one in header.fields) if header else ()


@cache
def _tables() -> tuple[HeaderTable, ...]:
    files = sorted(Path(FOLDER).glob("[0-9]*.json"))
    return tuple(read_table(json.loads(file.read_text())) for file in files)
