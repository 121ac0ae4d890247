"""
Recording: the units that each test meets, of those that pass through the proxy.

It is the choice of tests for a mutation. Tests with few other request codes come first,
because they are about this one. Of equal ones the fastest comes first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.harness.report.outcome import Outcome
from conformance.mutating_proxy.mutation import FRAME, Mutation, Unit
from conformance.mutating_proxy.results import is_right
from conformance.mutating_proxy.session import Result, TestRun

CLOSEST = 30
"""Tests that a mutation is shown to, beside some of each of the right clauses."""
OF_EACH_CLAUSE = 3
"""Tests of one right clause that a mutation is shown to, if there are so many."""
LONGEST_S = 30.0
"""Tests that took longer in the recording run are shown no mutation, by default.

Those that wait until a message is popped again take up to 20 s on a busy machine.
"""


@dataclass(frozen=True, slots=True)
class Recording:
    """The tests of the recording run, each with the units that it met."""

    runs: Sequence[TestRun]
    longest_s: float = LONGEST_S
    """Duration of the longest test that is shown mutations, in seconds."""

    @property
    def passed(self) -> list[TestRun]:
        """Return the runs of tests that are shown mutations."""
        return [
            run
            for run in self.runs
            if run.outcome == Outcome.PASS and run.duration_s <= self.longest_s
        ]

    @property
    def units(self) -> set[Unit]:
        """All units that some test meets."""
        return {unit for run in self.passed for unit in run.units}

    def tests_for(self, mutation: Mutation, clause: str = "") -> list[str]:
        """Return tests that meet what *mutation* changes, the closest first.

        Behind the closest ones follow the next tests of each clause about the request.
        With *clause*, only its tests are returned.
        """
        meeting = [
            run
            for run in self.passed
            if _meets(run, mutation) and (not clause or clause in run.clauses)
        ]
        meeting.sort(key=lambda run: (len(_codes(run)), run.duration_s))
        shown = meeting[:CLOSEST]
        seen = Counter(clause for run in shown for clause in run.clauses)
        for run in meeting[CLOSEST:]:
            if any(
                seen[clause] < OF_EACH_CLAUSE and is_right(mutation, clause)
                for clause in run.clauses
            ):
                shown.append(run)
                seen.update(run.clauses)
        return [run.test for run in shown]


def recording_of(results: Iterable[Result]) -> Recording:
    """Return the recording in the *results* of jobs without a mutation."""
    runs = [run for result in results for run in result.runs]
    return Recording(sorted(runs, key=lambda run: run.test))


def write_recording(recording: Recording, file: Path) -> None:
    """Write *recording* for later runs; each unit stands once."""
    units = sorted({unit for run in recording.runs for unit in run.units})
    numbers = {unit: number for number, unit in enumerate(units)}
    runs = [
        {**asdict(run), "units": [numbers[unit] for unit in run.units]}
        for run in recording.runs
    ]
    file.write_text(json.dumps({"units": units, "runs": runs}))


def read_recording(file: Path) -> Recording:
    """Return the recording that was written to *file*."""
    values = json.loads(file.read_text())
    units = [Unit(*one) for one in values["units"]]
    return Recording([_run_of(one, units) for one in values["runs"]])


def _run_of(values: dict[str, Any], units: Sequence[Unit]) -> TestRun:
    met = [units[number] for number in values.pop("units")]
    return TestRun(**values, units=met)


def _meets(run: TestRun, mutation: Mutation) -> bool:
    place = mutation.place
    return any(
        unit.frame_kind == mutation.frame_kind
        and unit.code == mutation.code
        and unit.place == place
        for unit in run.units
    )


def _codes(run: TestRun) -> set[int]:
    return {unit.code for unit in run.units if unit.place == FRAME}
