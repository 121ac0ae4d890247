"""
Charts of one audit, which the page's template draws.

A chart is as wide as its container. It has no text, which would shrink on a phone. The
page has labels beside it, and its parts have titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from spark_checks.audit import Audit
from spark_checks.findings import Finding, Severity
from spark_checks.store_files import Store

WIDTH = 1000
"""Width of the map, in units of its view box in the template."""
FINDING_WIDTH_MIN = 3
"""Least width of a finding, so that it stays visible."""
EDGES_MAX = 200
"""Largest number of files with drawn edges."""
GROUPS_MAX = 50
"""Groups in the lag chart: those furthest behind."""


class Rect(NamedTuple):
    """Part of the map; only those with a width are drawn."""

    kind: str
    """Class in the style sheet."""
    left: float
    width: float
    title: str = ""


def charts_of(audit: Audit) -> Mapping[str, Any]:
    """Return the charts of *audit* for which it has data, by name."""
    drawn: dict[str, Any] = {**audit.histograms, "lags": lags_of(audit.summary)}
    if audit.listing.commit_log:
        log_end = audit.survey_summary.log_end
        drawn["map"] = log_map(audit.listing, log_end, audit.findings)
    return drawn


def log_map(store: Store, log_end: int, findings: Iterable[Finding]) -> list[Rect]:
    """Return the commit log as a strip: written parts and findings.

    A sample shows its ranges instead of the written parts.
    """
    files = [(file.path, file.base, file.size) for file in store.commit_log]
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
        title = f"audited: commit-log offsets {first} to {behind}"
        rects.append(part("written", first, behind, title))
    if len(files) <= EDGES_MAX:
        edges = [(base - begin) * scale for _, base, _ in files[1:]]
        rects += [Rect("edge", left, 1) for left in edges]
    bases = {path: base - begin for path, base, _ in files}
    marks = list(_marks(bases, scale, findings))
    errors = {int(one.left): one for one in marks if one.kind == Severity.ERROR}
    rects += ({int(one.left): one for one in reversed(marks)} | errors).values()
    return rects


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


def lags_of(summary: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return name and lag of each group of *summary*, the furthest behind first."""
    lags = [(str(name), int(of["lag"])) for name, of in summary["groups"].items()]
    return sorted(lags, key=lambda one: (-one[1], one[0]))[:GROUPS_MAX]
