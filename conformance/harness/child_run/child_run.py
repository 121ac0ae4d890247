"""
Run of the suites in a child process, with the outcome of each clause.

It examines the suites themselves: on a mutant, a recorded store, or a dishonest
cluster.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from conformance.harness.child_run.forked_pytest import PLUGIN, run_forked
from conformance.harness.pytest_plugin.options import suite_folders
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report import FILE_NAME, read_report
from conformance.harness.report.report_json import (
    FailureEntry,
    Report,
    TargetEntry,
)
from conformance.harness.targets.started.embedded import SOURCES

TIMEOUT_S = 300.0
IN_SPITE_OF_PRELOADING = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Only the tests' own assertions are explained: the rest is loaded before pytest."""


NO_REPORT = Report(
    target=TargetEntry(), suite_version="", command="", results=(), totals={}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRun:
    """Result of a run."""

    code: int
    output: str
    """Output of pytest."""
    report: Report
    """Without results when the run itself broke."""

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """By clause."""
        return {one.id: one.outcome for one in self.report.results}

    @property
    def failures(self) -> dict[str, FailureEntry]:
        """By clause, of those where something was found wrong."""
        entries = self.report.results
        return {one.id: one.failure for one in entries if one.failure is not None}

    @property
    def reasons(self) -> dict[str, str]:
        """By clause, the reason where there is no verdict; empty where there is one."""
        return {one.id: one.reason or "" for one in self.report.results}


def run_child(
    tests: Sequence[Path],
    *options: str,
    timeout_s: float = TIMEOUT_S,
    has_baseline: bool = False,
) -> ChildRun:
    """Run *tests* with the options of the suites' plugin."""
    words = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider"]
    words += [] if has_baseline else ["--no-baseline"]
    words += ["-p", PLUGIN, *IN_SPITE_OF_PRELOADING]
    with tempfile.TemporaryDirectory() as directory:
        printed = Path(directory) / "printed"
        arguments = [*words, f"--report={directory}", *options, *map(str, tests)]
        code = run_forked(
            arguments, directory=SOURCES, printed=printed, timeout_s=timeout_s
        )
        file = Path(directory) / FILE_NAME
        return ChildRun(
            code=code,
            output=printed.read_text("utf-8", errors="replace"),
            report=read_report(file) if file.exists() else NO_REPORT,
        )


def files_naming(clauses: Iterable[str]) -> list[Path]:
    """Return the files of the suites that name one of *clauses*; if none does, all.

    Their tests are all that such a run needs to collect.
    """
    wanted = re.compile("|".join(map(re.escape, clauses)))
    naming = [file for file, text in _texts_of_tests() if wanted.search(text)]
    return naming or suite_folders()


@lru_cache(maxsize=1)  # the files are the same for all mutants
def _texts_of_tests() -> Sequence[tuple[Path, str]]:
    folders = suite_folders()
    files = [file for one in folders for file in sorted(one.rglob("test_*.py"))]
    return [(file, file.read_text("utf-8")) for file in files]
