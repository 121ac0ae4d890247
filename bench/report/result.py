"""
The result of a measurement of two sides: rows of figures, and goals as ratios.

Each side has its turn in each round. A ratio is taken of the two turns of a round,
because they ran on the same machine under the same load. The median of the ratios
counts. The least and the greatest stand beside it: on a machine with other work they
are far apart.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from msgspec import UNSET, Struct, UnsetType, convert, to_builtins

OURS, THEIRS = "reference", "apache"
Turn = Mapping[str, float]
"""Figures of one server in one turn, by name."""
Turns = Mapping[str, Sequence[Turn]]
"""The turns of each server, a round each."""
SCHEMA = 1


class Machine(Struct, frozen=True, kw_only=True):
    """Facts of the machine that a reader needs to assess the figures."""

    processors: int | None
    processor: str | UnsetType = UNSET
    memory_gib: int | UnsetType = UNSET
    system: str | UnsetType = UNSET
    load: float | UnsetType = UNSET
    """Programs that were ready to run at the start."""
    python: str
    java: str | UnsetType = UNSET
    rocketmq: str


class Ratio(Struct, frozen=True, kw_only=True):
    """A figure of ours to theirs; above 1 the reference is better."""

    way: str
    other: str
    ratio: float
    spread: tuple[float, float] | UnsetType = UNSET
    """The least and the greatest ratio of a round."""
    at_least: float | None
    """None for a ratio without a target."""
    met: bool | None


class Limit(Struct, frozen=True, kw_only=True):
    """A figure of ours alone, such as a size or a time, and the most that it may be."""

    way: str
    value: float
    at_most: float
    unit: str
    met: bool


class Figures(Struct, frozen=True, kw_only=True):
    """Figures of one side, each the median of the rounds."""

    medians: Mapping[str, float]
    rounds: Sequence[float]
    """The figure that is drawn, in each round."""


class Row(Struct, frozen=True, kw_only=True):
    """Figures of all sides about one thing."""

    id: str
    unit: str
    of: str
    """Name of the figure that is drawn."""
    sides: Mapping[str, Figures]
    """By name, ours first."""

    def drawn(self, who: str) -> float:
        """Return the figure of a side that is drawn."""
        return self.sides[who].medians[self.of]


class Report(Struct, frozen=True, kw_only=True):
    """Result of a measurement. Some measurements have a report with more members."""

    schema: int = SCHEMA
    bench: str
    machine: Machine
    rounds: int = 1
    rows: Sequence[Row] = ()
    goals: Sequence[Ratio | Limit]

    @property
    def misses_goal(self) -> bool:
        """Whether a goal with a target is missed."""
        return any(goal.met is False for goal in self.goals)


def encode_report(report: Report) -> str:
    """Return *report* as JSON text. A row has a member for each of its sides."""
    shown: dict[str, Any] = to_builtins(report)
    last = {name: shown.pop(name) for name in ("machine", "rounds", "rows", "goals")}
    last["rows"] = [_row_as_json(one) for one in report.rows]
    if not report.rows:
        del last["rows"]
    return json.dumps({**shown, **last}, indent=1)


def decode_report(text: str) -> Report:
    """Return a report of `encode_report`, with the members of all measurements."""
    shown: dict[str, Any] = json.loads(text)
    return Report(
        bench=shown["bench"],
        machine=convert(shown["machine"], Machine),
        rounds=shown.get("rounds", 1),
        rows=[_row_of(one) for one in shown.get("rows", ())],
        goals=[_goal_of(one) for one in shown["goals"]],
    )


def _goal_of(shown: Mapping[str, Any]) -> Ratio | Limit:
    return convert(shown, Limit) if "at_most" in shown else convert(shown, Ratio)


def _row_as_json(row: Row) -> dict[str, Any]:
    sides = {
        who: {**figures.medians, "rounds": figures.rounds}
        for who, figures in row.sides.items()
    }
    return {"id": row.id, "unit": row.unit, "of": row.of, **sides}


def _row_of(shown: Mapping[str, Any]) -> Row:
    own = ("id", "unit", "of")
    sides = {who: dict(one) for who, one in shown.items() if who not in own}
    return Row(
        **{name: shown[name] for name in own},
        sides={
            who: Figures(rounds=figures.pop("rounds"), medians=figures)
            for who, figures in sides.items()
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Target of a figure of ours beside theirs."""

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


def goal_result(what: str, turns: Turns, goal: Goal) -> Ratio:
    """Return the result for *goal*, under the name *what*."""
    return ratio_result(what, ratios(turns, goal), THEIRS, goal.at_least)


def ratio_result(
    what: str, found: Sequence[float], other: str, at_least: float | None
) -> Ratio:
    """Return the result for the ratios *found* of each round to *other*."""
    ratio = median(found)
    return Ratio(
        way=what,
        other=other,
        ratio=round(ratio, 2),
        spread=(round(min(found), 2), round(max(found), 2)),
        at_least=at_least,
        met=None if at_least is None else ratio >= at_least,
    )


def limit(what: str, value: float, *, at_most: float, unit: str) -> Limit:
    """Return a goal that is a figure of ours alone, such as a size or a time."""
    return Limit(
        way=what,
        value=round(value, 3),
        at_most=at_most,
        unit=unit,
        met=value <= at_most,
    )


def row(what: str, turns: Turns, *, unit: str, of: str) -> Row:
    """Return the medians of all figures of *turns*; *of* is the one that is drawn."""
    sides = {who: _figures(turns[who], of) for who in turns}
    return Row(id=what, unit=unit, of=of, sides=sides)


def _figures(turns: Sequence[Turn], of: str) -> Figures:
    medians = {
        name: _rounded(median(turn[name] for turn in turns)) for name in turns[0]
    }
    return Figures(medians=medians, rounds=[_rounded(turn[of]) for turn in turns])


def _rounded(value: float) -> float:
    """Return *value* with four digits that count, whole where it is large."""
    return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")


def machine_facts(release: str) -> Machine:
    """Return the facts of this machine, with the *release* of RocketMQ on it."""
    return Machine(
        processors=os.cpu_count(),
        processor=_processor(),
        memory_gib=round(psutil.virtual_memory().total / 2**30),
        system=f"{platform.system()} {platform.release()}",
        load=round(os.getloadavg()[0], 1),
        python=platform.python_version(),
        rocketmq=release,
    )


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return named[0].strip() if named else platform.processor()
