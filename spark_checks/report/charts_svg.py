"""
SVG charts of a store.

A chart is as wide as its container. It has no text, which would shrink on a phone. The
page has labels beside it, and its parts have titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 1000
HEIGHT = 60
BAR_HEIGHT = 120
FINDING_WIDTH_MIN = 3
"""Least width of a finding, so that it stays visible."""
EDGES_MAX = 200
"""Largest number of files with drawn edges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a histogram."""

    label: str
    count: int


def log_map(
    files: Sequence[tuple[str, int, int]],
    log_end: int,
    violations: Iterable[Mapping[str, object]],
    sampled_ranges: Sequence[tuple[int, int]] | None = None,
) -> str:
    """Return the commit log as an SVG strip: written parts and findings.

    *files* are path, start offset and size. A sample shows its *sampled_ranges*, by
    commit-log offsets, instead of the written parts.
    """
    if not files:
        return ""
    begin = min(base for _, base, _ in files)
    end = max(base + size for _, base, size in files)
    scale = WIDTH / max(end - begin, 1)
    parts = []
    for path, base, size in files:
        if sampled_ranges is not None:
            left = (base - begin) * scale
            parts.append(_rect("unwritten", left, size * scale, path))
            continue
        written = max(min(log_end, base + size) - base, 0)
        parts.append(_rect("written", (base - begin) * scale, written * scale, path))
        rest = (base - begin + written) * scale, (size - written) * scale
        parts.append(_rect("unwritten", *rest, f"{path}: not written yet"))
    for first, behind in sampled_ranges or ():
        title = f"looked at: commit-log offsets {first} to {behind}"
        place = (first - begin) * scale, (behind - first) * scale
        parts.append(_rect("written", *place, title))
    if len(files) <= EDGES_MAX:
        parts += [_edge((base - begin) * scale) for _, base, _ in files[1:]]
    bases = {path: base - begin for path, base, _ in files}
    parts += _marks(bases, scale, violations)
    return _svg(parts, HEIGHT, "the commit log from its first byte to its last")


def _marks(
    bases: Mapping[str, int], scale: float, violations: Iterable[Mapping[str, object]]
) -> list[str]:
    """Return the findings of the log, at most one per visible place."""
    marks: dict[int, str] = {}
    for found in violations:
        base = bases.get(str(found["file"]))
        if base is None:
            continue
        left = (base + int(str(found["offset"]))) * scale
        width = max(int(str(found["length"])) * scale, FINDING_WIDTH_MIN)
        left = min(left, WIDTH - FINDING_WIDTH_MIN)
        title = f"{found['invariant']}: {found['file']} @ {found['offset']}"
        mark = _rect(str(found["severity"]), left, min(width, WIDTH - left), title)
        if found["severity"] == "error":
            marks[int(left)] = mark
        else:
            marks.setdefault(int(left), mark)
    return list(marks.values())


def histogram(bars: Sequence[Bar], what: str) -> str:
    """Return *bars* side by side; the highest is as high as the chart."""
    most = max((bar.count for bar in bars), default=0)
    if not most:
        return ""
    width = WIDTH / len(bars)
    parts = []
    for index, bar in enumerate(bars):
        height = BAR_HEIGHT * bar.count / most
        if bar.count:
            height = max(height, 1)
        parts.append(
            f'<rect class="bar" x="{index * width:.1f}" y="{BAR_HEIGHT - height:.1f}"'
            f' width="{max(width - 1, 0.5):.1f}" height="{height:.1f}">'
            f"<title>{escape(bar.label)}: {bar.count:,}</title></rect>"
        )
    return _svg(parts, BAR_HEIGHT, what)


def share(count: int, most: int) -> str:
    """Return a bar of one table row."""
    width = WIDTH * count / most if most else 0
    return _svg([_rect("bar", 0, width, f"{count:,}")], 20, f"{count:,} messages")


def _rect(kind: str, left: float, width: float, title: str) -> str:
    if width <= 0:
        return ""
    return (
        f'<rect class="{kind}" x="{left:.2f}" y="0" width="{width:.2f}" height="100%">'
        f"<title>{escape(title)}</title></rect>"
    )


def _edge(left: float) -> str:
    return f'<rect class="edge" x="{left:.2f}" y="0" width="1" height="100%"/>'


def _svg(parts: Iterable[str], height: int, what: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(what, quote=True)}">{"".join(parts)}</svg>'
    )
