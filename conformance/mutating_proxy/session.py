"""
Session of pytest that runs jobs instead of each test once.

A job is a list of tests, and a mutation or none. Without one, the units that each test
meets are recorded. With one, tests run until one of them detects the mutation. It then
runs again without the mutation, to show that the failure is due to it.

Tests are collected once. Each worker is a fork with a target and proxies of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest
from _pytest.runner import runtestprotocol

from conformance.harness.pytest_plugin.fixtures import TARGET_OWNER
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import Verdict
from conformance.harness.targets.target import TargetError
from conformance.mutating_proxy.changes import OF_OTHERS
from conformance.mutating_proxy.mutation import FrameKind, Mutation, Unit
from conformance.mutating_proxy.switch import SWITCH

PATIENCE_S = 60
"""Time that a test may take, by default. A mutation may keep one waiting."""
RECORDING_PATIENCE_S = 150
"""The same in the recording run, on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Tests to run, and the mutation that acts meanwhile."""

    tests: list[str]
    mutation: tuple[str, int, str, str] | None = None


@dataclass(slots=True, kw_only=True)
class TestRun:
    """One run of one test."""

    __test__ = False

    test: str
    outcome: str
    clauses: list[str]
    blamed: list[str]
    duration_s: float
    found: str = ""
    count: int = 0
    """Frames that were changed meanwhile."""
    units: list[Unit] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Result:
    """Runs of the tests of one job."""

    mutation: tuple[str, int, str, str] | None
    runs: list[TestRun] = field(default_factory=list)
    is_steady: bool = True
    """Whether the failed test passed again without the mutation."""


RunJobs = Callable[[Sequence[Job]], list["Result"]]
"""Runs jobs in the workers; returns the results in the order of their end."""
Campaign = Callable[[Sequence[str], RunJobs], None]
"""Plans jobs for the tests of these ids, and evaluates the results."""


class JobSession:
    """Plugin of pytest: collects the tests, then lets a campaign run jobs of them."""

    def __init__(
        self, campaign: Campaign, *, workers: int, patience_s: int = PATIENCE_S
    ) -> None:
        self._campaign, self._workers = campaign, workers
        self._patience_s = patience_s

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the campaign on the collected tests."""
        items = {item.nodeid: item for item in session.items}

        def run_jobs(jobs: Sequence[Job]) -> list[Result]:
            return run_in_workers(
                items, jobs, workers=self._workers, patience_s=self._patience_s
            )

        self._campaign(list(items), run_jobs)
        return True

    @pytest.hookimpl(tryfirst=True, wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        """End the mutation with the test: what follows examines the target itself."""
        if call.when == "call" or call.excinfo is not None:
            SWITCH.off()
            signal.alarm(0)
        return (yield)


def run_in_workers(
    items: dict[str, pytest.Item],
    jobs: Sequence[Job],
    *,
    workers: int,
    patience_s: int = PATIENCE_S,
) -> list[Result]:
    """Run *jobs* in so many forks of this process."""
    with TemporaryDirectory(prefix="rocketmq-conformance-mutations-") as name:
        directory = Path(name)
        ids = [
            _fork(items, jobs, directory, number, patience_s)
            for number in range(workers)
        ]
        try:
            while ids:
                os.waitpid(ids[-1], 0)
                ids.pop()
        finally:
            for process_id in ids:
                os.kill(process_id, signal.SIGTERM)
        files = directory.glob("*.jsonl")
        return [one for file in files for one in read_results(file)]


def _fork(
    items: dict[str, pytest.Item],
    jobs: Sequence[Job],
    directory: Path,
    number: int,
    patience_s: int,
) -> int:
    """Return the id of a new worker."""
    process_id = os.fork()
    if process_id:
        return process_id
    code = 1
    owner = next(iter(items.values())).config.stash[TARGET_OWNER]
    owner.leave()  # an observation of the parent may have started its target
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        signal.signal(signal.SIGALRM, _too_late)
        taken = directory / "taken"
        worker = Worker(items, jobs, taken=taken, patience_s=patience_s)
        with (directory / f"{number}.jsonl").open("w") as out:
            for result in worker.results():
                out.write(json.dumps(asdict(result)) + "\n")
                out.flush()
        code = 0
    finally:
        owner.close()
        os._exit(code)  # not the exit handlers of the parent


def read_results(file: Path) -> Iterator[Result]:
    """Yield the results that a run has written, one a line."""
    for line in file.read_text().splitlines():
        values = json.loads(line)
        runs = [TestRun(**one) for one in values.pop("runs")]
        for run in runs:
            run.units = [Unit(*one) for one in run.units]
        yield Result(runs=runs, **values)


class Worker:
    """Runs jobs on a target of its own."""

    def __init__(
        self,
        items: dict[str, pytest.Item],
        jobs: Sequence[Job],
        *,
        taken: Path,
        patience_s: int,
    ) -> None:
        self._items, self._jobs, self._taken = items, jobs, taken
        self._patience_s = patience_s
        self._is_warm = False
        """Whether a test has run, so that the target has started."""

    def results(self) -> Iterator[Result]:
        """Yield the results of jobs until all are taken."""
        while (index := self._take()) < len(self._jobs):
            yield self._result_of(self._jobs[index])

    def _take(self) -> int:
        """Return the index of the next job that no worker has taken."""
        with self._taken.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            index = int(file.read() or 0)
            file.truncate(0)
            file.write(str(index + 1))
        return index

    def _result_of(self, job: Job) -> Result:
        if job.mutation is None:
            SWITCH.set(None)
            self._warm_up(job.tests[0])
            runs = [self._recorded(test) for test in job.tests]
            return Result(mutation=None, runs=runs)
        frame_kind, code, place, change = job.mutation
        mutation = Mutation(FrameKind(frame_kind), code, place, change)
        result = Result(mutation=job.mutation)
        if not self._is_detected(mutation, job.tests, result):
            # The first tests had no earlier ones, whose values they could get.
            unchanged = [run.test for run in result.runs if not run.count]
            if change == OF_OTHERS and len(unchanged) < len(result.runs):
                self._is_detected(mutation, unchanged, result)
        return result

    def _is_detected(
        self, mutation: Mutation, tests: Sequence[str], result: Result
    ) -> bool:
        """Run *tests* until one detects *mutation*; return whether one does."""
        for test in tests:
            SWITCH.set(mutation)
            run = self._run(test)
            if not run.count and run.outcome in DETECTED:
                # It was disturbed by what an earlier mutation has left.
                SWITCH.set(mutation)
                run = self._run(test)
            result.runs.append(run)
            if run.count and run.outcome in DETECTED:
                SWITCH.set(None)
                result.is_steady = self._run(test).outcome == Outcome.PASS
                if not result.is_steady:
                    self._replace_target(test)
                return True
        return False

    def _warm_up(self, test: str) -> None:
        """Start the target, so that its start does not count as time of a test.

        Tests that are marked ``long`` come first. With the start of a JVM they take
        longer than ``LONGEST_S``, and no mutation of their requests is shown.
        """
        if not self._is_warm:
            self._run(test, patience_s=RECORDING_PATIENCE_S)
        self._is_warm = True

    def _replace_target(self, test: str) -> None:
        """Start the target anew, where a mutation has left something behind."""
        owner = self._items[test].config.stash[TARGET_OWNER]
        try:
            owner.replace()
        except TargetError as error:
            raise pytest.UsageError(str(error)) from error

    def _recorded(self, test: str) -> TestRun:
        SWITCH.record()
        run = self._run(test, patience_s=RECORDING_PATIENCE_S)
        run.units = sorted(SWITCH.met())
        return run

    def _run(self, test: str, *, patience_s: int = 0) -> TestRun:
        item = self._items[test]
        item._initrequest()  # type: ignore[attr-defined] # an item runs several times
        begun = time.monotonic()
        signal.alarm(patience_s or self._patience_s)
        try:
            reports = runtestprotocol(item, log=False, nextitem=None)
        finally:
            signal.alarm(0)
            SWITCH.off()
        verdicts = [
            Verdict.load(report.conformance)
            for report in reports
            if hasattr(report, "conformance")
        ]
        worst = max(verdicts, key=lambda one: _GRAVITY.index(one.outcome), default=None)
        return TestRun(
            test=test,
            outcome=worst.outcome if worst else Outcome.ERROR,
            clauses=worst.clauses if worst else [],
            blamed=worst.blamed if worst else [],
            duration_s=round(time.monotonic() - begun, 2),
            found=(worst.found or worst.reason)[:300] if worst else "",
            count=SWITCH.count,
        )


_GRAVITY = (
    *(Outcome.NOT_APPLICABLE, Outcome.UNSUPPORTED, Outcome.KNOWN, Outcome.PASS),
    *(Outcome.BLOCKED, Outcome.ERROR, Outcome.FAIL),
)
DETECTED = (Outcome.BLOCKED, Outcome.ERROR, Outcome.FAIL)
"""Outcomes of a test that a mutation has disturbed."""


def _too_late(_: int, __: FrameType | None) -> None:
    raise AssertionError("the test has not ended in time")
