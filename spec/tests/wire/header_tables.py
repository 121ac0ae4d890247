"""The header tables that are kept in fixtures, and small ones made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spec.clause import release_key
from spec.wire.headers.header_table import (
    Field,
    Header,
    HeaderTable,
    HeaderUse,
    Request,
    read_table,
)

FOLDER = Path(__file__).parents[3] / "fixtures" / "headers"
RELEASES = sorted((file.stem for file in FOLDER.glob("[0-9]*.json")), key=release_key)


def kept_json(release: str) -> Any:
    """Return the table of *release* as its file has it."""
    return json.loads((FOLDER / f"{release}.json").read_text(encoding="utf-8"))


def kept_table(release: str) -> HeaderTable:
    """Return the table of *release*."""
    return read_table(kept_json(release))


def planted_field(
    name: str, java_type: str = "String", *, required: bool = False
) -> Field:
    """Return a field made by hand."""
    return Field(name=name, java_type=java_type, required=required, default=None)


def planted_table(
    release: str,
    fields: Mapping[str, Field] | None = None,
    *,
    code: int = 17,
    name: str = "ASK",
    header: str = "AskHeader",
) -> HeaderTable:
    """Return a table of one request; without *fields* it carries no header."""
    made = Header(name=header, fields=tuple((fields or {}).values()))
    use = HeaderUse(name=header, written_in=("a.B#c",), read_in=("d.E#f",))
    request = Request(
        code=code,
        name=name,
        headers=() if fields is None else (use,),
        handled_in=("d.E",),
    )
    headers = {} if fields is None else {header: made}
    return HeaderTable(release=release, requests=(request,), headers=headers)
