"""
Spans of the fields of one structure, which follow from its layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from construct import Struct

from spec.layout import Trace, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpan:
    """Bytes of a field within its structure."""

    begin: int
    size: int
    is_number: bool


def field_spans(layout: Struct, data: bytes) -> Iterator[tuple[str, FieldSpan]]:
    """Yield name and span of each field of the structure that begins *data*.

    The size before bytes of variable size is a field of its own, ``<field>_size``.
    """
    trace = Trace()
    parse(layout, data, trace)
    whole = {span.path.rpartition(".")[0] for span in trace}
    for span in sorted(trace, key=lambda span: span.start):
        begin, size = span.start, span.end - span.start
        if span.path in whole:
            continue
        if isinstance(span.value, bytes):
            count = size - len(span.value)
            if count:
                yield (
                    f"{span.path}_size",
                    FieldSpan(begin=begin, size=count, is_number=True),
                )
            yield (
                span.path,
                FieldSpan(begin=begin + count, size=size - count, is_number=False),
            )
        else:
            yield span.path, FieldSpan(begin=begin, size=size, is_number=True)
