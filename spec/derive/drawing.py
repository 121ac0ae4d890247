"""
Byte diagrams: a layout drawn as boxes of bytes, sixteen to a line, in SVG.

A field of a fixed size is as wide as its bytes. One whose size depends on something
is drawn dashed, at its smallest size or, where that is nothing, four bytes wide. Places
are exact up to the first dashed box and smallest places after it, as in the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from construct import Struct

from spec.derive.outline import (
    Blob,
    Choice,
    Counted,
    Fixed,
    Form,
    Integer,
    Row,
    Structure,
    outline,
)

LINE = 16
"""Bytes of a line."""
CELL, HEIGHT, TOP = 46, 44, 22
"""Pixels of a byte, of a line, and above the first line."""
MARGIN = 52
"""Pixels to the left of the bytes, where their places stand."""
OPEN_WIDTH = 4
"""Bytes that a field is wide which may be empty."""
STYLE = (
    "text{font:12px ui-monospace,monospace;fill:#111}"
    ".small{font-size:10px;fill:#666}"
    "rect{fill:#eef4fb;stroke:#345;stroke-width:1}"
    "rect.open{fill:#fbf6e6;stroke-dasharray:4 3}"
)


@dataclass(frozen=True, slots=True)
class Box:
    """A field in a diagram."""

    name: str
    size: int
    """Bytes that it is drawn wide."""
    label: str
    """Its size in words: ``4``, ``4 or 16``, ``n``."""
    is_open: bool = False
    """Whether it may be wider than it is drawn."""


def boxes(layout: Struct) -> list[Box]:
    """Return the boxes of *layout*, in the order of its bytes."""
    return list(_boxes(outline(layout), ""))


def _boxes(structure: Structure, prefix: str) -> Iterator[Box]:
    for one in structure.fields:
        name = f"{prefix}{one.name}"
        if isinstance(one.form, Structure):
            yield from _boxes(one.form, f"{name}.")
        elif isinstance(one.form, Counted):
            yield _box(f"{name}_size", one.form.count)
            yield Box(name, OPEN_WIDTH, "n", is_open=True)
        else:
            yield _box(name, one.form)


def _box(name: str, form: Form) -> Box:
    sizes = sorted(set(_sizes(form)))
    label = " or ".join("n" if size == 0 else str(size) for size in sizes)
    is_open = len(sizes) > 1 or sizes == [0]
    return Box(name, sizes[0] or OPEN_WIDTH, label, is_open)


def _sizes(form: Form) -> Iterator[int]:
    """Yield the sizes that *form* may have; 0 stands for any."""
    match form:
        case Integer(size=size) | Blob(size=int() as size):
            yield size
        case Choice():
            yield from _sizes(form.then)
            yield from _sizes(form.otherwise)
        case Fixed():
            yield from _sizes(form.form)
        case Blob() | Counted() | Row() | Structure():
            yield 0


def byte_diagram(layout: Struct, title: str) -> str:
    """Return *layout* drawn, as one SVG element."""
    shapes: list[str] = []
    at, is_certain = 0, True
    for box in boxes(layout):
        shapes += _shapes(box, at, is_certain=is_certain)
        at += box.size
        is_certain &= not box.is_open
    lines = -(-at // LINE)
    width, height = MARGIN + LINE * CELL + 4, TOP + lines * HEIGHT + 6
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        *(_text(MARGIN + i * CELL + 4, 14, str(i), "small") for i in range(LINE)),
    ]
    return "\n".join([*head, *shapes, "</svg>"]) + "\n"


def _shapes(box: Box, at: int, *, is_certain: bool) -> Iterator[str]:
    """Yield the rectangles of *box*, one a line, and the texts in them."""
    widest = max(_pieces(box, at), key=lambda piece: piece[1])
    for start, size in _pieces(box, at):
        line, column = divmod(start, LINE)
        x, y = MARGIN + column * CELL, TOP + line * HEIGHT
        kind = ' class="open"' if box.is_open else ""
        yield f'<rect{kind} x="{x}" y="{y}" width="{size * CELL}" height="{HEIGHT}"/>'
        if column == 0:
            place = f"{start}" if is_certain else f"{start}+"
            yield _text(4, y + 26, place, "small")
        if (start, size) == widest:
            yield _text(x + 4, y + 19, _fitting(box.name, size))
            yield _text(x + 4, y + 35, box.label, "small")


def _pieces(box: Box, at: int) -> list[tuple[int, int]]:
    """Return the begin and the size in bytes of each line's part of *box*."""
    found = []
    end = at + box.size
    while at < end:
        size = min(end, (at // LINE + 1) * LINE) - at
        found.append((at, size))
        at += size
    return found


def _fitting(name: str, size: int) -> str:
    """Return as much of *name* as *size* bytes have room for."""
    room = size * CELL // 8
    return name if len(name) <= room else f"{name[: room - 1]}…"


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}">{escape(text)}</text>'
