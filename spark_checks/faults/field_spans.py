"""Spans of the fields of one structure, which follow from its layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from construct import Struct

from spec.layout import Trace, parse


class FieldSpan(NamedTuple):
    """Bytes of a field within its structure."""

    begin: int
    size: int
    is_number: bool = True


def field_spans(layout: Struct, data: bytes) -> Mapping[str, FieldSpan]:
    """Return the span of each field of the structure that begins *data*, by name.

    The size before bytes of variable size is a field of its own, ``<field>_size``.
    """
    trace = Trace()
    parse(layout, data, trace)
    whole = {span.path.rpartition(".")[0] for span in trace}
    found: dict[str, FieldSpan] = {}
    for path, begin, end, value, _ in sorted(trace, key=lambda span: span.start):
        if path in whole:
            continue
        if not isinstance(value, bytes):
            found[path] = FieldSpan(begin, end - begin)
            continue
        start = end - len(value)
        if start > begin:
            found[f"{path}_size"] = FieldSpan(begin, start - begin)
        found[path] = FieldSpan(start, len(value), is_number=False)
    return found
