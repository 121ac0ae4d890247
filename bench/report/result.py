"""
The result of a measurement of two sides: rows of figures, and goals as ratios.

Each side has its turn in each round. A ratio is taken of the two turns of a round,
because they ran on the same machine under the same load. The median of the ratios
counts. The least and the greatest stand beside it: on a machine with other work they
are far apart.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

OURS, THEIRS = "reference", "apache"
BOTH = OURS, THEIRS
Turn = Mapping[str, float]
"""Figures of one server in one turn, by name."""
Turns = Mapping[str, Sequence[Turn]]
"""The turns of each server, a round each."""
Report = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How a figure of ours has to stand to theirs."""

    figure: str
    at_least: float | None
    """None for a ratio without a target."""
    less_is_better: bool = False
    """Then the ratio is theirs to ours: above 1 we are better, always."""


def ratios(turns: Turns, goal: Goal) -> list[float]:
    """Return the ratio of each round; above 1 the reference is better."""
    pairs = zip(turns[OURS], turns[THEIRS], strict=True)
    both = [(ours[goal.figure], theirs[goal.figure]) for ours, theirs in pairs]
    if goal.less_is_better:
        both = [(theirs, ours) for ours, theirs in both]
    return [one / other if other else float("inf") for one, other in both]


def goal_result(what: str, turns: Turns, goal: Goal) -> Report:
    """Return the result for *goal*, under the name *what*."""
    return ratio_result(what, ratios(turns, goal), THEIRS, goal.at_least)


def ratio_result(
    what: str, found: Sequence[float], other: str, at_least: float | None
) -> Report:
    """Return the result for the ratios *found* of each round to *other*."""
    ratio = median(found)
    return {
        "way": what,
        "other": other,
        "ratio": round(ratio, 2),
        "spread": [round(min(found), 2), round(max(found), 2)],
        "at_least": at_least,
        "met": None if at_least is None else ratio >= at_least,
    }


def limit(what: str, value: float, *, at_most: float, unit: str) -> Report:
    """Return a goal that is a figure of ours alone, such as a size or a time."""
    return {
        "way": what,
        "value": round(value, 3),
        "at_most": at_most,
        "unit": unit,
        "met": value <= at_most,
    }


def row(what: str, turns: Turns, *, unit: str, of: str) -> Report:
    """Return the medians of all figures of *turns*; *of* is the one that is drawn."""
    return {
        "id": what,
        "unit": unit,
        "of": of,
        **{who: _medians(turns[who], of) for who in turns},
    }


def _medians(turns: Sequence[Turn], of: str) -> Report:
    figures: Report = {
        name: _rounded(median(turn[name] for turn in turns)) for name in turns[0]
    }
    return {**figures, "rounds": [_rounded(turn[of]) for turn in turns]}


def _rounded(value: float) -> float:
    """Return *value* with four digits that count, whole where it is large."""
    return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")


def sides(row: Report) -> list[str]:
    """Return whose figures *row* has, ours first."""
    return [name for name, value in row.items() if isinstance(value, Mapping)]


def machine_facts(release: str) -> Report:
    """Return the facts of the machine that a reader needs to assess the figures."""
    return {
        "processors": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "rocketmq": release,
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return named[0].strip() if named else platform.processor()
