"""
One run of mqadmin's commands at a real 4.6.0 and at the reference, compared by cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from conformance.harness.targets.target import parse_target
from conformance.interop.mqadmin import steps
from conformance.interop.mqadmin.columns import Cells, cells_of, unknowns_of
from conformance.interop.mqadmin.scene import Scene, scene

TARGETS = ("jvm:4.6.0", "embedded:")
"""The real one first."""

SETTINGS = {"transactionCheckInterval": "3600000"}
"""The first scan of half messages, by default a minute after the start, creates their
topic: a run may be slower or faster than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Result of one step: number of cells, differences, undetermined cells."""

    words: str
    cell_count: int
    differences: tuple[str, ...] = ()
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """Sub-command, or QUERY."""
        return self.words.partition(" ")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The cells of one step at one target."""

    cells: Cells
    unknown: dict[str, str]


def compare(words: Sequence[str], real: Printed, ours: Printed) -> Taken:
    """Return the result of a step, from its output at both targets."""
    expected, found = real.cells, ours.cells
    return Taken(
        words=" ".join(words),
        cell_count=len(expected),
        differences=tuple(
            f"{name}: {expected.get(name)!r}, not {found.get(name)!r}"
            for name in sorted(expected.keys() | found.keys())
            if expected.get(name) != found.get(name)
        ),
        unknown={**real.unknown, **ours.unknown},
    )


def run_all(directory: Path) -> list[Taken]:
    """Take every step at both targets, at the same time; return what each gave."""
    with ThreadPoolExecutor(len(TARGETS)) as pool:
        real, ours = pool.map(partial(_run, directory), TARGETS)
    return [compare(*both) for both in zip(steps.ALL, real, ours, strict=True)]


def _run(directory: Path, text: str) -> list[Printed]:
    home = directory / text.partition(":")[0]
    home.mkdir()
    with parse_target(text, conf=SETTINGS) as target, scene(target, home) as made:
        known = made.tool.commands()
        assert tuple(known) == steps.SUB_COMMANDS, f"mqadmin has {known}"
        return [_printed(made, words) for words in steps.ALL]


def _printed(made: Scene, words: steps.Words) -> Printed:
    lines = made.run(words)
    return Printed(
        cells=cells_of(words[0], lines), unknown=unknowns_of(words[0], lines)
    )
