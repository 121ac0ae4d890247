"""
Charts of one audit, as rectangles that the page's template draws.

A chart is as wide as its container. It has no text, which would shrink on a phone. The
page has labels beside it, and its parts have titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from spark_checks.audit import Audit
from spark_checks.chart_data import Histograms
from spark_checks.findings import Finding, Severity
from spark_checks.store_files import Store

WIDTH = 1000
HEIGHT, BAR_HEIGHT, SHARE_HEIGHT = 60, 120, 20
FINDING_WIDTH_MIN = 3
"""Least width of a finding, so that it stays visible."""
EDGES_MAX = 200
"""Largest number of files with drawn edges."""
GROUPS_MAX = 50
"""Groups in the lag chart: those furthest behind."""


class Rect(NamedTuple):
    """Rectangle of a chart, on its ground."""

    kind: str
    """Class in the style sheet."""
    left: float
    width: float
    title: str = ""
    share: float = 1
    """Part of the chart's height."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Rectangles, of which only those with a width are drawn."""

    rects: Sequence[Rect]
    height: int
    what: str
    width: int = WIDTH


def charts_of(audit: Audit) -> Mapping[str, Any]:
    """Return the charts of *audit* for which it has data, by name."""
    drawn: dict[str, Any] = {"lags": _lags(audit.summary.get("groups"))}
    store, summary = audit.listing, audit.survey_summary
    if store is not None and summary is not None and store.commit_log:
        drawn["map"] = log_map(store, summary.log_end, audit.findings)
    if audit.histograms is not None:
        drawn.update(_histograms(audit.histograms))
    return drawn


def log_map(store: Store, log_end: int, findings: Iterable[Finding]) -> Chart:
    """Return the commit log as a strip: written parts and findings.

    A sample shows its ranges instead of the written parts.
    """
    files = [(file.path, file.base or 0, file.size) for file in store.commit_log]
    begin = files[0][1]
    end = max(base + size for _, base, size in files)
    scale = WIDTH / max(end - begin, 1)

    def part(kind: str, first: int, behind: int, title: str = "") -> Rect:
        return Rect(kind, (first - begin) * scale, (behind - first) * scale, title)

    rects = []
    for path, base, size in files:
        if store.parts is not None:
            rects.append(part("unwritten", base, base + size, path))
            continue
        written = max(min(log_end, base + size), base)
        rects.append(part("written", base, written, path))
        title = f"{path}: not written yet"
        rects.append(part("unwritten", written, base + size, title))
    for first, behind in store.parts or ():
        title = f"looked at: commit-log offsets {first} to {behind}"
        rects.append(part("written", first, behind, title))
    if len(files) <= EDGES_MAX:
        edges = [(base - begin) * scale for _, base, _ in files[1:]]
        rects += [Rect("edge", left, 1) for left in edges]
    bases = {path: base - begin for path, base, _ in files}
    marks = list(_marks(bases, scale, findings))
    errors = {int(one.left): one for one in marks if one.kind == Severity.ERROR}
    rects += ({int(one.left): one for one in reversed(marks)} | errors).values()
    return Chart(rects, HEIGHT, "the commit log from its first byte to its last")


def _marks(
    bases: Mapping[str, int], scale: float, findings: Iterable[Finding]
) -> Iterator[Rect]:
    """Yield the findings of the log at their visible places."""
    for one in findings:
        if one.file in bases:
            left = (bases[one.file] + one.offset) * scale
            left = min(left, WIDTH - FINDING_WIDTH_MIN)
            width = min(max(one.length * scale, FINDING_WIDTH_MIN), WIDTH - left)
            title = f"{one.invariant.id}: {one.file} @ {one.offset}"
            yield Rect(str(one.severity), left, width, title)


def histogram(bars: Sequence[tuple[str, int]], what: str) -> Chart:
    """Return labelled counts side by side; the highest is as high as the chart."""
    most = max(max(count for _, count in bars), 1)
    width = WIDTH / len(bars)
    rects = [
        Rect(
            kind="bar",
            left=index * width,
            width=max(width - 1, 0.5),
            title=f"{label}: {count:,}",
            share=max(count / most, 1 / BAR_HEIGHT) if count else 0,
        )
        for index, (label, count) in enumerate(bars)
    ]
    return Chart(rects, BAR_HEIGHT, what)


def _histograms(found: Histograms) -> Mapping[str, Any]:
    powers = range(min(found.sizes), max(found.sizes) + 1)
    sizes = [
        (f"{2**p:,} to {2 ** (p + 1) - 1:,} bytes", found.sizes.get(p, 0))
        for p in powers
    ]
    width = (found.last_ms - found.first_ms) / len(found.times)
    times = [
        (f"from {_time(int(found.first_ms + index * width))}", count)
        for index, count in enumerate(found.times)
    ]
    return {
        "sizes": histogram(sizes, "messages by size"),
        "size_edges": (f"{2 ** powers[0]:,}", f"{2 ** (powers[-1] + 1):,}"),
        "times": histogram(times, "messages by store time"),
        "time_edges": (_time(found.first_ms), _time(found.last_ms)),
    }


def _lags(groups: object) -> list[tuple[str, int, Chart]]:
    """Return name, lag and bar of each group, the furthest behind first."""
    if not isinstance(groups, Mapping):
        return []
    lags = sorted((-int(of["lag"]), str(name)) for name, of in groups.items())
    most = max((-lag for lag, _ in lags), default=0) or 1
    found = []
    for lag, name in lags[:GROUPS_MAX]:
        bar = Rect("bar", 0, WIDTH * -lag / most, f"{-lag:,}")
        found.append((name, -lag, Chart([bar], SHARE_HEIGHT, f"{-lag:,} messages")))
    return found


def _time(ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") + " UTC"
