"""
The pictures of one audit, with the words that stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from spark_checks.audit import Audit
from spark_checks.histograms import Histograms
from spark_checks.pictures import Bar, histogram, log_map, share

GROUPS_MAX = 50
"""Groups whose lag is drawn: those furthest behind."""


def pictures_of(audit: Audit) -> Mapping[str, Any]:
    """Return what the page shows of *audit* as pictures; those it has numbers for."""
    drawn: dict[str, Any] = {"lags": _lags(audit.summary.get("groups"))}
    if audit.pictured is not None:
        violations = [finding.as_json() for finding in audit.findings]
        drawn["map"] = _markup(
            log_map(
                audit.pictured.files,
                audit.pictured.log_end,
                violations,
                audit.pictured.looked_at,
            )
        )
        drawn.update(_histograms(audit.pictured.histograms))
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
    """Return a picture of ours, in which names are escaped, as a part of the page."""
    return Markup(svg)  # noqa: S704 # pictures.py escapes all that it did not write


def _time(ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") + " UTC"
