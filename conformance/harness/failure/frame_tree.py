"""
Tree of a frame: its size words, the members of its header, its body.

``spec.explain`` shows the fields of a layout. Members of a JSON header have no fixed
position, so they are searched here and shown with their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from conformance.harness.failure.field_values import format_member
from spec.explain import ExplainedField, explained_fields, hex_rows
from spec.layout import LayoutError
from spec.wire.remoting.command import decode_command
from spec.wire.remoting.frame import SerializeType, frame_layout
from spec.wire.remoting.header_rocketmq import header_layout

NAME_WIDTH = 18
LARGE_BODY_SIZE = 1 << 20
"""Limit in bytes above which a body's members are not searched."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")
_FIELDS = "extFields."


def frame_tree(frame: bytes, wrong: Collection[str] = ()) -> str:
    """Return the fields of *frame*, those in *wrong* marked, then its bytes.

    *wrong* contains names of size words, of members of the header, of header fields of
    the command, or of members of a JSON body.
    """
    return _tree(frame, [_marked(one, wrong) for one in fields_of(frame, wrong)])


def own_frame_tree(frame: bytes) -> str:
    """Return the fields of a *frame* of the suite, which is right even if it is bad."""
    return _tree(frame, [_unmarked(one) for one in fields_of(frame)])


def _tree(frame: bytes, found: Sequence[ExplainedField]) -> str:
    width = max([len(one.name) for one in found] + [NAME_WIDTH])
    spans = [(one.start, one.end) for one in found if one.is_wrong]
    lines = [one.line(width) for one in found]
    return "\n".join([*lines, "", *hex_rows(frame, spans)])


def fields_of(frame: bytes, names: Collection[str] = ()) -> list[ExplainedField]:
    """Return the fields of *frame* in the order of their bytes.

    Members of a JSON body count as fields if *names* contains their names.
    """
    found: list[ExplainedField] = []
    for one in explained_fields(frame_layout, frame):
        parts = _header_parts(frame, one) if one.name == "header" else []
        found += parts or [one]
        if one.name == "body" and names and one.end - one.start < LARGE_BODY_SIZE:
            members = members_in(frame[one.start : one.end], one.start)
            found += [member for member in members if _is_named(member.name, names)]
    return found


def members_in(data: bytes, base: int = 0) -> Iterator[ExplainedField]:
    """Yield the members of the JSON object *data* that are not objects themselves.

    A name includes those of the objects around it, separated by dots. Texts keep their
    quotes. Invalid JSON yields the members before the error.
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
    """Return the parts of a header, empty if it cannot be decoded."""
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
    return [replace(one, text=format_member(one, is_response)) for one in named]


def _is_response(frame: bytes) -> bool:
    try:
        return decode_command(frame).is_response
    except LayoutError:
        return False


def _marked(one: ExplainedField, wrong: Collection[str]) -> ExplainedField:
    return replace(one, is_wrong=one.is_wrong or _is_named(one.name, wrong))


def _unmarked(one: ExplainedField) -> ExplainedField:
    return replace(one, is_wrong=False, text=f"({one.text})") if one.is_wrong else one


def _is_named(name: str, names: Collection[str]) -> bool:
    return name in names or name.rpartition(".")[2] in names


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")
