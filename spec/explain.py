"""
Explain bytes: every field of a layout with its place and its value, then the hex.

A line is a field: a mark, its begin and end, its name, its value. The mark is ``✗`` for
a wrong field, and the hex has carets under its bytes. Names, places and sentences come
from the declaration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

from construct import Struct

from spec.layout import LayoutError, Trace, parse
from spec.store.message_record import SystemFlag

GOOD, WRONG = "·", "✗"
ROW_SIZE = 16
PLACE_WIDTH = 8
"""Columns before a row of hex, with the place of its first byte."""
ROWS_MAX = 16
"""Rows of hex that are shown without a wrong field."""
WRONG_ROWS_MAX = 4
"""Rows that are shown of each wrong field, and before the first."""
SHOWN_MAX = 48
"""Characters of a long value that are shown."""
REMARK_COLUMN = 24
"""Characters that a value takes at least before a remark."""
_SEPARATORS = "\x01\x02\t\r\n"
"""Characters in readable text that are shown as escapes: those of properties too."""
_HEX_NAMES = frozenset({"magic", "body_crc"})
_TIME_RANGE = range(10**11, 10**14)
"""Values of a ``_ms`` field that are shown as a time: the years 1973 to 5138."""


@dataclass(frozen=True, slots=True)
class ExplainedField:
    """One line of an explanation."""

    name: str
    start: int
    end: int
    text: str
    """The value, in the form in which its reader thinks."""
    meaning: str
    is_wrong: bool = False

    def line(self, width: int, base: int = 0, remark: str = "") -> str:
        """Return the field as one line whose names take *width* characters."""
        mark = WRONG if self.is_wrong else GOOD
        place = f"{self.start + base:>5}..{self.end + base}"
        text = f"{self.text:<{REMARK_COLUMN}}  # {remark}" if remark else self.text
        return f"  {mark} {place:<13} {self.name:<{width}}  {text}".rstrip()


def explain(
    layout: Struct,
    data: bytes | memoryview,
    *,
    wrong: str | Collection[str] | None = None,
    base: int = 0,
    remarks: Mapping[str, str] | None = None,
    is_full: bool = False,
) -> str:
    """Return *data* as *layout* reads it, the fields named by *wrong* marked.

    *base* is added to every place that is shown, *remarks* stand behind the values of
    the fields that they name. Where the bytes stop fitting the layout, that field is
    marked too and the reason stands in the place of its value. With *is_full* no value
    and no row of hex is left out.
    """
    data = bytes(data)
    found = explained_fields(layout, data, wrong=wrong, is_full=is_full)
    width = max([len(one.name) for one in found] + [16])
    notes = remarks or {}
    lines = [one.line(width, base, notes.get(one.name, "")) for one in found]
    end = max([one.end for one in found], default=len(data))
    spans = [(one.start, one.end) for one in found if one.is_wrong]
    rows = hex_rows(data[:end], spans, base=base, is_full=is_full)
    return "\n".join([*lines, "", *rows])


def explained_fields(
    layout: Struct,
    data: bytes,
    *,
    wrong: str | Collection[str] | None = None,
    is_full: bool = False,
) -> list[ExplainedField]:
    """Return the fields of *data* in the order of their bytes."""
    marked = {wrong} if isinstance(wrong, str) else set(wrong or ())
    trace = Trace()
    failure: LayoutError | None = None
    try:
        parse(layout, data, trace)
    except LayoutError as error:
        failure = error
    found = [
        ExplainedField(
            name=span.path,
            start=span.start,
            end=span.end,
            text=show_value(span.path, span.value, is_full=is_full),
            meaning=span.meaning,
            is_wrong=_is_marked(span.path, marked),
        )
        for span in trace
        if not isinstance(span.value, dict)
    ]
    if failure is not None:
        start, end = min(failure.offset, len(data)), len(data)
        text = failure.reason
        found.append(ExplainedField(failure.field, start, end, text, "", is_wrong=True))
    return found


def _is_marked(path: str, marked: set[str]) -> bool:
    """Return whether *path* or a structure that it is in has been named."""
    parts = path.split(".")
    return any(".".join(parts[: i + 1]) in marked for i in range(len(parts)))


def show_value(name: str, value: Any, *, is_full: bool = False) -> str:
    """Return the value of the field *name* in a readable form.

    Magics and checksums are hex, times have a date, flags their names, addresses
    their dots; long texts are cut and have their length, unless *is_full*.
    """
    last = name.rsplit(".", 1)[-1]
    if isinstance(value, bytes):
        is_address = last == "address"
        return (
            _show_address(value) if is_address else show_bytes(value, is_full=is_full)
        )
    if not isinstance(value, int):
        return str(value)
    if last in _HEX_NAMES:
        return f"0x{value & 0xFFFFFFFF:08X}"
    if last.endswith("_ms") and value in _TIME_RANGE:
        shown = datetime.fromtimestamp(value / 1000, UTC)
        return f"{value} ({shown.isoformat(timespec='milliseconds')})"
    if last == "system_flags" and value:
        return f"{value} ({show_flags(value)})"
    return str(value)


def show_flags(flags: int) -> str:
    """Return the names of the system flags *flags* and what is left of them."""
    known = 0
    names = []
    if flags & SystemFlag.TRANSACTION_ROLLBACK == SystemFlag.TRANSACTION_ROLLBACK:
        names.append("TRANSACTION_ROLLBACK")
        flags &= ~int(SystemFlag.TRANSACTION_ROLLBACK)
    for flag in SystemFlag:
        known |= int(flag)
        if flags & flag:
            names.append(flag.name or "")
    rest = flags & ~known
    return " | ".join([*names, *([f"{rest:#x}"] if rest else [])])


def show_bytes(value: bytes, *, is_full: bool = False) -> str:
    """Return *value* as text where it is text, as hex where it is not.

    A long one is cut and has its length, unless *is_full*.
    """
    size = f"({len(value)} bytes)"
    limit = len(value) if is_full else SHOWN_MAX
    text = _text_of(value, limit)
    if text is not None and all(c.isprintable() or c in _SEPARATORS for c in text):
        shown = repr(text[:limit])
        return shown if len(value) <= limit else f"{shown[:-1]}… {size}"
    limit = limit if is_full else SHOWN_MAX // 3
    shown = value[:limit].hex(" ")
    return shown if len(value) <= limit else f"{shown} … {size}"


def _text_of(value: bytes, limit: int) -> str | None:
    """Return the beginning of *value* as text, or None if it is not text."""
    head = value[: limit * 4]
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = len(head) < len(value) and error.start > len(head) - 4
        return head[: error.start].decode("utf-8") if cut else None


def _show_address(value: bytes) -> str:
    return str(ip_address(value)) if len(value) in {4, 16} else show_bytes(value)


def hex_rows(
    data: bytes,
    wrong: Collection[tuple[int, int]] = (),
    *,
    base: int = 0,
    is_full: bool = False,
) -> Iterator[str]:
    """Yield *data* as rows of hex, with carets under the spans in *wrong*.

    Of many rows the first are shown, and those with something wrong in them. With
    *is_full* all are shown.
    """
    end = 0
    all_rows = range(0, len(data), ROW_SIZE)
    for start in all_rows if is_full else _shown_rows(len(data), wrong):
        row = data[start : start + ROW_SIZE]
        if start > end:
            yield f"    …     {start - end} bytes"
        yield _hex_row(base + start, row)
        places = range(start, start + len(row))
        carets = [any(a <= place < b for a, b in wrong) for place in places]
        if any(carets):
            yield _caret_row(carets)
        end = start + len(row)
    if end < len(data):
        yield f"    …     {len(data) - end} bytes"


def _shown_rows(size: int, wrong: Collection[tuple[int, int]]) -> list[int]:
    """Return the begins of the shown rows: the first, and those of wrong fields."""
    count = WRONG_ROWS_MAX if wrong else ROWS_MAX
    shown = set(range(0, min(size, count * ROW_SIZE), ROW_SIZE))
    for a, b in wrong:
        first = a // ROW_SIZE * ROW_SIZE
        last = min(b, size, first + WRONG_ROWS_MAX * ROW_SIZE)
        shown |= set(range(first, last, ROW_SIZE))
    return sorted(shown)


def _hex_row(place: int, row: bytes) -> str:
    text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
    return (
        f"{f'{place:04x}':>{PLACE_WIDTH}}  {row.hex(' '):<{3 * ROW_SIZE - 1}}  |{text}|"
    )


def _caret_row(carets: list[bool]) -> str:
    """Return carets under the marked bytes and the gaps between two of them."""
    cells = []
    for here, after in zip(carets, [*carets[1:], False], strict=True):
        cells.append(("^^" if here else "  ") + ("^" if here and after else " "))
    return (" " * (PLACE_WIDTH + 2) + "".join(cells)).rstrip()
