"""
The tree of a frame: its size words, the members of its header, its body.

``spec.explain`` shows the fields of a layout. A header in JSON has none with a fixed
place, so its members are looked for here, and shown with the bytes that they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import zip_longest

from conformance.harness.field_values import shown_member
from spec.explain import ExplainedField, explained_fields, hex_rows
from spec.layout import LayoutError
from spec.wire.command import decode_command
from spec.wire.frame import SerializeType, frame_layout
from spec.wire.header_rocketmq import header_layout

NAME_WIDTH = 18
LARGE_BODY_SIZE = 1 << 20
"""A body in which nobody looks for members."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")
_FIELDS = "extFields."


def frame_tree(frame: bytes, wrong: Collection[str] = ()) -> str:
    """Return the fields of *frame*, those named by *wrong* marked, then its bytes.

    A name of *wrong* is that of a size word, a member of the header, a header field of
    the command, or a member of a JSON body.
    """
    found = [_marked(one, wrong) for one in fields_of(frame, wrong)]
    width = max([len(one.name) for one in found] + [NAME_WIDTH])
    spans = [(one.start, one.end) for one in found if one.is_wrong]
    lines = [one.line(width) for one in found]
    return "\n".join([*lines, "", *hex_rows(frame, spans)])


def fields_of(frame: bytes, wanted: Collection[str] = ()) -> list[ExplainedField]:
    """Return the fields of *frame* in the order of their bytes.

    Of a body in JSON the members named by *wanted* are fields, too.
    """
    found: list[ExplainedField] = []
    for one in explained_fields(frame_layout, frame):
        parts = _header_parts(frame, one) if one.name == "header" else []
        found += parts or [one]
        if one.name == "body" and wanted and one.end - one.start < LARGE_BODY_SIZE:
            members = members_in(frame[one.start : one.end], one.start)
            found += [member for member in members if _is_named(member.name, wanted)]
    return found


def members_in(data: bytes, base: int = 0) -> Iterator[ExplainedField]:
    """Yield the members of the JSON object *data* that are no objects themselves.

    A name has the names of the objects around it, with dots; texts keep their quotes.
    What is no JSON gives nothing, or as much as can be told.
    """
    path: list[tuple[str, int]] = []
    tokens = list(_TOKEN.finditer(data))
    key: tuple[str, int] | None = None
    for here, after in zip_longest(tokens, tokens[1:]):
        text = here[0]
        if after is not None and after[0] == b":":
            key = (_text(text).strip('"'), here.start())
        elif text in _OPENING:
            path.append(key or ("", here.start()))
            key = None
        elif text in _CLOSING and path:
            path.pop()
        elif key is not None and text not in b":,":
            name = ".".join(filter(None, [*(one for one, _ in path), key[0]]))
            start, end = base + key[1], base + here.end()
            yield ExplainedField(name, start, end, _text(text), "")
            key = None


def _header_parts(frame: bytes, header: ExplainedField) -> list[ExplainedField]:
    """Return what the bytes of a header hold; nothing where they cannot be read."""
    if header.is_wrong:
        return []
    data = frame[header.start : header.end]
    if frame[4] == SerializeType.JSON:
        parts = list(members_in(data, header.start))
        named = [replace(one, name=one.name.removeprefix(_FIELDS)) for one in parts]
    else:
        named = [
            replace(one, start=one.start + header.start, end=one.end + header.start)
            for one in explained_fields(header_layout, data)
        ]
    is_response = _is_response(frame)
    return [replace(one, text=shown_member(one, is_response)) for one in named]


def _is_response(frame: bytes) -> bool:
    try:
        return decode_command(frame).is_response
    except LayoutError:
        return False


def _marked(one: ExplainedField, wrong: Collection[str]) -> ExplainedField:
    return replace(one, is_wrong=one.is_wrong or _is_named(one.name, wrong))


def _is_named(name: str, wanted: Collection[str]) -> bool:
    return name in wanted or name.rpartition(".")[2] in wanted


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")
