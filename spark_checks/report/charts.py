"""
Charts of one audit, with their labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from spark_checks.audit import Audit
from spark_checks.chart_data import Histograms
from spark_checks.report.charts_svg import Bar, histogram, log_map, share

GROUPS_MAX = 50
"""Groups in the lag chart: those furthest behind."""


def charts_of(audit: Audit) -> Mapping[str, Any]:
    """Return the charts of *audit* for which it has data, by name."""
    drawn: dict[str, Any] = {"lags": _lags(audit.summary.get("groups"))}
    if audit.chart_data is not None:
        violations = [finding.as_json() for finding in audit.findings]
        drawn["map"] = _markup(
            log_map(
                audit.chart_data.files,
                audit.chart_data.log_end,
                violations,
                audit.chart_data.sampled_ranges,
            )
        )
        drawn.update(_histograms(audit.chart_data.histograms))
    return drawn


def _histograms(found: Histograms | None) -> Mapping[str, Any]:
    if found is None:
        return {}
    powers = range(min(found.sizes), max(found.sizes) + 1)
    sizes = [
        Bar(
            label=f"{2**p:,} to {2 ** (p + 1) - 1:,} bytes", count=found.sizes.get(p, 0)
        )
        for p in powers
    ]
    width = (found.last_ms - found.first_ms) / len(found.times)
    times = [
        Bar(label=f"from {_time(int(found.first_ms + index * width))}", count=count)
        for index, count in enumerate(found.times)
    ]
    return {
        "sizes": _markup(histogram(sizes, "messages by size")),
        "size_edges": (f"{2 ** powers[0]:,}", f"{2 ** (powers[-1] + 1):,}"),
        "times": _markup(histogram(times, "messages by store time")),
        "time_edges": (_time(found.first_ms), _time(found.last_ms)),
    }


def _lags(groups: object) -> list[tuple[str, int, Markup]]:
    """Return name, lag and bar of each group, the furthest behind first."""
    if not isinstance(groups, Mapping):
        return []
    lags = sorted(((int(of["lag"]), str(name)) for name, of in groups.items()))
    lags = sorted(lags, key=lambda one: (-one[0], one[1]))[:GROUPS_MAX]
    most = max((lag for lag, _ in lags), default=0)
    return [(name, lag, _markup(share(lag, most))) for lag, name in lags]


def _markup(svg: str) -> Markup:
    """Mark *svg* as safe for the page; its text is escaped."""
    return Markup(svg)  # noqa: S704 # charts_svg escapes all names


def _time(ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") + " UTC"
