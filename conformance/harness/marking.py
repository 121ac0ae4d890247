"""
Marking shows the bytes of a frame with carets under the field that is wrong.

Fields of a JSON header have no fixed place, so the field is looked for by its name.
"""

from __future__ import annotations

import re

ROW_SIZE = 16
ROWS_AROUND = 1
"""Rows shown before and after the marked ones."""
MOST_ROWS = 8
PREFIX_SIZE = 8
"""Bytes of a frame before its header: two length words."""

_WORDS = {"length": (0, 4), "serialize_type": (4, 5), "header_length": (5, 8)}


def mark_field(frame: bytes, name: str) -> str:
    """Return rows of *frame* with the field *name* marked, or its first rows."""
    if not frame:
        return ""
    start, end = find_field(frame, name)
    return mark(frame, start, end)


def find_field(frame: bytes, name: str) -> tuple[int, int]:
    """Return where *name* and its value are in *frame*; an empty span if nowhere."""
    if name in _WORDS:
        return _WORDS[name]
    header_end = PREFIX_SIZE + int.from_bytes(frame[5:8], "big")
    if name == "body" and len(frame) > header_end:
        return header_end, len(frame)
    value = rb'\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\]]*)'
    found = re.search(
        rb'"' + re.escape(name.encode()) + rb'"' + value, frame[:header_end]
    )
    return found.span() if name and found else (0, 0)


def mark(data: bytes, start: int, end: int, *, base: int = 0) -> str:
    """Return the rows of *data* around *start* to *end*, which are marked by carets."""
    first = max(0, start // ROW_SIZE - ROWS_AROUND)
    last = min(max(end - 1, 0) // ROW_SIZE + ROWS_AROUND, (len(data) - 1) // ROW_SIZE)
    rows = range(first, min(last, first + MOST_ROWS) + 1)
    lines = [
        line for row in rows for line in _row(data, row, start, end=end, base=base)
    ]
    if rows and rows[-1] < (len(data) - 1) // ROW_SIZE:
        lines.append(f"...   {len(data)} bytes in all")
    return "\n".join(lines)


def _row(data: bytes, row: int, start: int, *, end: int, base: int) -> list[str]:
    begin = row * ROW_SIZE
    part = data[begin : begin + ROW_SIZE]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
    lines = [f"{base + begin:04x}  {part.hex(' '):<{ROW_SIZE * 3 - 1}}  |{text}|"]
    low, high = max(start - begin, 0), min(end - begin, len(part))
    if low < high:
        lines.append(" " * (6 + 3 * low) + "^" * (3 * (high - low) - 1))
    return lines
