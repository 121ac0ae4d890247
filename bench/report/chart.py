"""
A picture of one measurement: two bars a row, as SVG that any browser shows.

Rows of one unit share a scale. Beside the bars of the median, a thin line reaches from
the least round to the greatest.
"""

from __future__ import annotations

from html import escape
from typing import Any

from bench.report.result import BOTH, OURS, Report

WIDTH, LEFT, RIGHT = 760, 270, 120
ROW, BAR, TOP = 46, 15, 34
COLOURS = {"reference": "#1f77b4", "apache": "#d98a2b"}
_STYLE = "font-family:sans-serif;font-size:12px"


def picture(report: Report) -> str:
    """Return the picture of the rows of *report*."""
    rows = [row for row in report["rows"] if set(BOTH) & set(row)]
    height = TOP + ROW * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' style="{_STYLE}" role="img">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *_legend(),
    ]
    for number, row in enumerate(rows):
        alike = [other for other in rows if other["unit"] == row["unit"]]
        lines += _row(row, TOP + ROW * number, most=_most(alike))
    return "\n".join([*lines, "</svg>", ""])


def _legend() -> list[str]:
    lines = []
    for number, who in enumerate(BOTH):
        x = LEFT + 110 * number
        lines.append(
            f'<rect x="{x}" y="10" width="12" height="12" fill="{COLOURS[who]}"/>'
            f'<text x="{x + 18}" y="20">{who}</text>'
        )
    return lines


def _most(rows: list[dict[str, Any]]) -> float:
    values = [max(row[who]["rounds"]) for row in rows for who in BOTH if who in row]
    return max(values) or 1.0


def _row(row: dict[str, Any], top: int, *, most: float) -> list[str]:
    scale = (WIDTH - LEFT - RIGHT) / most
    name = escape(row["id"])
    lines = [f'<text x="{LEFT - 8}" y="{top + 20}" text-anchor="end">{name}</text>']
    for who in BOTH:
        if who not in row:
            continue
        y = top if who == OURS else top + BAR + 3
        value = row[who][row["of"]]
        least, greatest = (pick(row[who]["rounds"]) for pick in (min, max))
        width = max(value * scale, 1)
        end = LEFT + max(width, greatest * scale)
        middle = y + BAR / 2
        lines.append(
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"'
            f' fill="{COLOURS[who]}"/>'
            f'<line x1="{LEFT + least * scale:.1f}" x2="{LEFT + greatest * scale:.1f}"'
            f' y1="{middle}" y2="{middle}" stroke="#333333"/>'
            f'<text x="{end + 6:.1f}" y="{y + 12}">{value:,g}'
            f" {escape(row['unit'])}</text>"
        )
    return lines
