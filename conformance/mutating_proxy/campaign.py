"""
Campaign: the recording run, the choice of mutations, and the results of each.

A mutation that no test was shown is not counted. It acts on values that the tests meet,
but the change does not apply to them: an earlier value for a stale one is missing.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from conformance.mutating_proxy.mutation import Mutation, mutations_of
from conformance.mutating_proxy.recording import (
    LONGEST_S,
    Recording,
    read_recording,
    recording_of,
    write_recording,
)
from conformance.mutating_proxy.results import report_lines, unexplained
from conformance.mutating_proxy.session import Job, Result, RunJobs, read_results


class MutationCampaign:
    """One run of the mutating proxy."""

    exit_code = 0

    def __init__(
        self,
        *,
        recording: Path | None,
        sample: int,
        seed: int,
        only: Sequence[str],
        again: Path | None,
        out: Path | None,
        longest_s: float = LONGEST_S,
        clauses: Sequence[str] = (),
    ) -> None:
        self._recording, self._again, self._out = recording, again, out
        self._longest_s, self._clauses = longest_s, clauses
        self._sample, self._seed, self._only = sample, seed, only

    def run(self, tests: Sequence[str], run_jobs: RunJobs) -> None:
        """Record, mutate, and print the results."""
        recording = replace(self._recorded(tests, run_jobs), longest_s=self._longest_s)
        mutations = self._chosen(recording)
        _print(f"{len(mutations)} mutations, {len(recording.passed)} tests")
        jobs = [
            _job(mutation, recording, tests, clause)
            for mutation in mutations
            for clause in self._clauses or [""]
        ]
        results = run_jobs(jobs)
        if self._out is not None:
            _write(results, self._out)
        for line in report_lines(results):
            _print(line)
        self.exit_code = 1 if unexplained(results) else 0

    def _recorded(self, tests: Sequence[str], run_jobs: RunJobs) -> Recording:
        """Return the recording, with tests that the file does not have yet."""
        file = self._recording
        known = Recording(())
        if file is not None and file.exists():
            known = read_recording(file)
        seen = {run.test for run in known.runs}
        jobs = [Job(tests=[test]) for test in tests if test not in seen]
        new = recording_of(run_jobs(jobs) if jobs else ())
        recording = Recording([*known.runs, *new.runs])
        if file is not None and jobs:
            write_recording(recording, file)
        return recording

    def _chosen(self, recording: Recording) -> list[Mutation]:
        """Return the sample: as many of each way as of the others, if there are."""
        found = mutations_of(recording.units)
        _print(f"{len(found)} mutations of {len(recording.units)} units")
        if self._only:
            named = self._only
            found = [one for one in found if any(part in str(one) for part in named)]
        if self._again is not None:
            missed = unexplained(read_results(self._again))
            found = [one for one in found if one in missed]
        if not self._sample or len(found) <= self._sample:
            return found
        chosen = random.Random(self._seed).sample(found, self._sample)  # noqa: S311 # a sample
        return sorted(chosen)


def _job(
    mutation: Mutation, recording: Recording, tests: Sequence[str], clause: str
) -> Job:
    """Return the job of *mutation*, with the *tests* of this run that meet it.

    With *clause*, it is those of the clause.
    """
    collected, meeting = set(tests), recording.tests_for(mutation, clause)
    return Job(
        tests=[one for one in meeting if one in collected],
        mutation=(mutation.frame_kind, mutation.code, mutation.place, mutation.change),
    )


def _write(results: Iterable[Result], file: Path) -> None:
    with file.open("w") as out:
        for one in results:
            out.write(json.dumps(asdict(one)) + "\n")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
