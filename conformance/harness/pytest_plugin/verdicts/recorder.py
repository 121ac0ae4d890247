"""The hooks that only the process which hands out the tests needs: count and report."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from conformance.harness.baseline.baseline_verdicts import (
    baseline_verdicts,
    passed_steps,
    passes_of_known,
)
from conformance.harness.blocked.guard import unrepeated
from conformance.harness.pytest_plugin.options import Options
from conformance.harness.pytest_plugin.verdicts.added_cases import (
    BASELINE_CASES,
    BROKE_CASES,
    STALE_CASES,
    add_cases,
    add_remarks,
    junit_written,
)
from conformance.harness.report.causes import BLOCKER
from conformance.harness.report.evidence.evidence_differences import (
    Comparison,
    compare,
    is_release,
)
from conformance.harness.report.known_failures import other_targets
from conformance.harness.report.known_failures_file import known_text, write_known
from conformance.harness.report.outcome import VERDICTS, Outcome
from conformance.harness.report.report import report_of, write_report
from conformance.harness.report.run_record import STALE, ClauseResult, Record, Verdict
from conformance.harness.report.terminal.summary import (
    fit_failures,
    write_differences,
    write_end,
    write_error,
    write_honesty,
    write_summary,
    write_uncollected,
)
from conformance.harness.targets.client_target import first_step_of
from conformance.harness.targets.probing.probe import names_of
from conformance.harness.targets.shared_target import (
    TargetOwner,
    refuses_of,
    violations_of,
)
from conformance.harness.targets.target import is_client
from spec.observed import all_evidence

FINDINGS, HARNESS_FAILED = 1, 3
INTERRUPTED = pytest.StashKey[str]()
"""Progress of a run that was interrupted."""


class Recorder:
    """Counts verdicts, and at the end writes the summary and the report."""

    def __init__(self, record: Record, host: TargetOwner, options: Options) -> None:
        self._record = record
        self._host = host
        self._options = options
        self._results: list[ClauseResult] = []
        self._late: list[Verdict] = []
        """Verdicts of tests whose reports had passed before."""
        self._breaks: list[Verdict] = []
        """Verdicts of tests that ran when the target of all workers broke."""
        self._comparison: Comparison | None = None
        self._session: pytest.Session | None = None
        self._interrupted = ""
        """Progress of the run, if it was interrupted."""
        self._unwritten = ""
        """File of the report that could not be written, and the reason."""
        self._uncollected: list[str] = []
        """Files without a collection, each with the last line of the reason."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session, which may have to stop."""
        self._session = session

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file whose tests cannot be collected; workers run the others."""
        if report.failed:
            last = report.longreprtext.rstrip().rpartition("\n")[2]
            reason = last.removeprefix("E").strip()
            self._uncollected.append(f"{report.nodeid}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the verdict that a report carries."""
        self._breaks += map(Verdict.load, getattr(report, "conformance_breaks", ()))
        for earlier in getattr(report, "conformance_before", ()):
            self._late.append(Verdict.load(earlier))
            self._record.add(self._late[-1])
        dumped = getattr(report, "conformance", None)
        if dumped is None:
            return
        self._record.add(Verdict.load(dumped))
        if self._options.until_failed and self._session is not None:
            blamed = {name for one in self._record.verdicts for name in one.blamed}
            if self._options.only_clauses <= blamed:
                self._session.shouldstop = "each clause has failed"

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, None, None]:
        """Put the results together, choose the exit code, write the report."""
        if self._record.verdicts:
            self._finish(session)
        with junit_written(session.config) as problem:
            self._unwritten = self._unwritten or problem
            if self._unwritten:
                session.exitstatus = HARNESS_FAILED
            yield

    def _finish(self, session: pytest.Session) -> None:
        description = self._host.description
        self._add_baseline(session.config, description)
        self._add_unrepeated()
        self._results = self._record.results(description)
        stale = [one.failure for one in self._results if one.reason == STALE]
        add_cases(session.config, STALE_CASES, filter(None, stale))
        add_cases(session.config, BROKE_CASES, self._late)
        self._interrupted = session.config.stash.get(INTERRUPTED, "")
        add_remarks(session.config, self._interrupted, violations_of(description))
        self._prepare_output(session.config)
        self._comparison = self._compared(description.get("release", ""))
        session.exitstatus = self._exit_status(session)
        try:
            self._write_files(description)
        except OSError as error:
            parts = error.filename, error.strerror
            self._unwritten = ": ".join(filter(None, parts))

    def _write_files(self, description: Mapping[str, str]) -> None:
        if self._options.write_known is not None:
            text = known_text(self._results, self._record.known, description)
            write_known(self._options.write_known, text)
        if self._options.report is not None:
            report = report_of(
                self._results, description, interrupted=self._interrupted
            )
            write_report(self._options.report, report)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print the outcomes of the clauses."""
        description = self._host.description if self._results else {}
        heading = f"target {description.get('text') or self._options.target}"
        if description.get("release"):
            heading += f" as {description['release']}"
        if description.get("release_source"):
            heading += f" ({description['release_source']})"
        write_summary(
            terminalreporter,
            self._results,
            heading=heading,
            report=self._report,
            is_whole=not self._options.by_cause,
            has_all_clauses=not is_client(self._options.target),
        )
        if self._results:  # without any, pytest writes the errors
            write_uncollected(terminalreporter, self._uncollected)
        others = other_targets(
            self._record.known,
            target=description.get("text", ""),
            release=description.get("release", ""),
        )
        if others and self._results:
            write_error(terminalreporter, others)
        write_honesty(
            terminalreporter,
            names_of(refuses_of(description)),
            violations_of(description),
        )
        if self._comparison is not None:
            is_whole = not self._options.by_cause or self._options.against_evidence
            write_differences(terminalreporter, self._comparison, is_whole=is_whole)
        write_end(
            terminalreporter,
            self._results,
            report=self._report,
            first_step=first_step_of(self._options.target),
        )
        if self._unwritten:
            write_error(terminalreporter, f"not written: {self._unwritten}")

    @property
    def _report(self) -> Path | None:
        """The directory of the report; None where it has not been written."""
        is_written = self._results and not self._unwritten
        return self._options.report if is_written else None

    def _add_baseline(
        self, config: pytest.Config, description: Mapping[str, str]
    ) -> None:
        """Record the steps of the baseline, if it ran."""
        known = self._record.known
        profile = self._options.profile
        failed = list(baseline_verdicts(description, known, profile))
        self._record.add_first([*failed, *passes_of_known(description, known)])
        add_cases(config, BASELINE_CASES, [*failed, *passed_steps(description)])

    def _add_unrepeated(self) -> None:
        """Record that the target of all workers ended, if no test ended another one.

        A target that still runs was slow, or is again what it was.
        """
        report = self._host.end_report()
        if self._breaks and report and not any(x.broke for x in self._record.verdicts):
            self._late.append(unrepeated(self._breaks[0], report))
            self._record.add(self._late[-1])

    def _prepare_output(self, config: pytest.Config) -> None:
        """Fit failures into the terminal; leave them out where causes are written."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if not self._options.by_cause:
            if reporter is not None:
                fit_failures(reporter)
            return
        config.option.tbstyle = "no"
        if reporter is not None:
            reporter.reportchars = ""

    def _compared(self, release: str) -> Comparison | None:
        """Return the comparison with the evidence of *release*, if there is any.

        The evidence is of brokers.
        """
        observed = all_evidence().get(release)
        if observed is None or is_client(self._options.target):
            return None
        outcomes = {result.id: result.outcome.value for result in self._results}
        return compare(outcomes, observed)

    def _contradicts_evidence(self) -> bool:
        if self._comparison is None or not self._options.against_evidence:
            return False
        release = self._comparison.observed.release
        whole = is_release(self._options.target, release)
        return self._comparison.contradicts(whole=whole and not self._options.read_only)

    def _exit_status(self, session: pytest.Session) -> int:
        """Return 1 for findings, 3 where there are only errors or no verdict at all.

        Clauses that a known failure blocks are a part of that failure.
        """
        outcomes = {result.outcome for result in self._results}
        if Outcome.FAIL in outcomes or self._contradicts_evidence():
            return FINDINGS
        known = {one.id for one in self._results if one.outcome is Outcome.KNOWN}
        blockers = {
            named[1] if (named := BLOCKER.search(one.reason)) else ""
            for one in self._results
            if one.outcome is Outcome.BLOCKED
        }
        is_undecided = Outcome.ERROR in outcomes or bool(blockers - known)
        if (is_undecided or self._uncollected) and session.exitstatus in (0, FINDINGS):
            return HARNESS_FAILED
        if not outcomes.intersection(VERDICTS) and session.exitstatus == 0:
            return HARNESS_FAILED
        return int(session.exitstatus)
