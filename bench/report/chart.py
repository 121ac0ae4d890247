"""
A picture of one measurement: two bars a row, as SVG that any browser shows.

Rows of one unit share a scale. Beside the bars of the median, a thin line reaches from
the least round to the greatest.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.report.result import Report, Row

WIDTH, LEFT, RIGHT = 760, 270, 120
ROW, BAR, TOP = 46, 15, 34
COLOURS = ("#1f77b4", "#d98a2b")
_STYLE = "font-family:sans-serif;font-size:12px"


def picture(report: Report) -> str:
    """Return the picture of the rows of *report*."""
    rows = report.rows
    height = TOP + ROW * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' style="{_STYLE}" role="img">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *_legend(rows),
    ]
    for number, row in enumerate(rows):
        alike = [other for other in rows if other.unit == row.unit]
        lines += _row(row, TOP + ROW * number, most=_most(alike))
    return "\n".join([*lines, "</svg>", ""])


def _legend(rows: Sequence[Row]) -> list[str]:
    lines = []
    for number, who in enumerate(rows[0].sides):
        x = LEFT + 110 * number
        lines.append(
            f'<rect x="{x}" y="10" width="12" height="12" fill="{COLOURS[number]}"/>'
            f'<text x="{x + 18}" y="20">{who}</text>'
        )
    return lines


def _most(rows: Sequence[Row]) -> float:
    values = [max(side.rounds) for row in rows for side in row.sides.values()]
    return max(values) or 1.0


def _row(row: Row, top: int, *, most: float) -> list[str]:
    scale = (WIDTH - LEFT - RIGHT) / most
    name = escape(row.id)
    lines = [f'<text x="{LEFT - 8}" y="{top + 20}" text-anchor="end">{name}</text>']
    for number, who in enumerate(row.sides):
        y = top + number * (BAR + 3)
        value = row.drawn(who)
        least, greatest = (pick(row.sides[who].rounds) for pick in (min, max))
        width = max(value * scale, 1)
        end = LEFT + max(width, greatest * scale)
        middle = y + BAR / 2
        lines.append(
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"'
            f' fill="{COLOURS[number]}"/>'
            f'<line x1="{LEFT + least * scale:.1f}" x2="{LEFT + greatest * scale:.1f}"'
            f' y1="{middle}" y2="{middle}" stroke="#333333"/>'
            f'<text x="{end + 6:.1f}" y="{y + 12}">{value:,g}'
            f" {escape(row.unit)}</text>"
        )
    return lines
