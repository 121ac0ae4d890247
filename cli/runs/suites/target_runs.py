"""Runs of the suites on one target or several: their options, and pytest's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from cli.options.exit_codes import FINDINGS, NOT_RUN, SUCCESS, USAGE
from cli.runs.suites.listing import keywords_of
from cli.runs.suites.pytest_run import run_pytest
from cli.runs.suites.side_by_side import folder_of, keep_former, write_matrix
from cli.runs.suites.workers import effort_words, jobs_of, seed_of, spread_words
from conformance.harness.pytest_plugin.options import (
    DEFAULT_TARGET,
    JUNIT,
    suite_folders,
)
from spec.clause import Clause

STORE = "store:"
"""Before the directory of a store, whose files are examined without a broker."""
GRAVEST_FIRST = (USAGE, FINDINGS, NOT_RUN, SUCCESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of ``rmqc test``, as they are given."""

    targets: tuple[str, ...]
    profile: str | None
    suite: str | None
    known: Path | None
    report: Path | None
    read_only: bool
    no_baseline: bool
    may_configure: bool
    against_evidence: bool
    only: str | None
    level: str | None
    listed: bool
    explain: str | None
    write_known: Path | None
    jobs: int | None
    order: str
    against: str | None
    examples: str
    seed: int | None
    pytest_args: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the targets to test."""
        return self.targets or (DEFAULT_TARGET,)

    @property
    def keywords(self) -> str:
        """Keywords (-k) among pytest's arguments."""
        return keywords_of(self.pytest_args)

    @property
    def is_reading(self) -> bool:
        """Whether tests that write are left out; none writes to files of a store."""
        return self.read_only and not are_stores(self.names)

    @property
    def is_part(self) -> bool:
        """Whether the options leave out some tests."""
        return bool(self.suite or self.targets or self.keywords or self.read_only)


def are_stores(names: tuple[str, ...]) -> bool:
    """Return whether all targets are files of stores."""
    return all(name.startswith(STORE) for name in names)


def run_each(options: RunOptions, words: list[str]) -> int:
    """Run pytest with *words* on each target, and return the gravest exit code."""
    names, report = options.names, options.report
    codes = [
        run_pytest(name, words, _report_words(report, name, names)) for name in names
    ]
    if report is not None and len(names) > 1:
        click.echo(write_matrix(report, (folder_of(report, name) for name in names)))
    return next(code for code in GRAVEST_FIRST if code in codes)


def pytest_words(
    options: RunOptions,
    suites: list[str],
    wanted: Sequence[Clause] | None,
    test_count: int | None,
) -> list[str]:
    """Return pytest's words for a run of *suites*, without target and reports."""
    # With other settings of a running cluster, all tests see the changes.
    jobs = 0 if options.may_configure else options.jobs
    jobs = jobs_of(jobs, options.names, options.pytest_args, test_count)
    seed = seed_of(options.order, options.seed)
    return [
        *map(str, suite_folders(suites)),
        *_known_words(options),
        *_option_words(
            profile=options.profile,
            suite=options.suite and ",".join(suites),
            read_only=options.read_only,
            no_baseline=options.no_baseline,
            may_configure=options.may_configure,
            only_clauses=",".join(one.id for one in wanted or ()),
            against_evidence=options.against_evidence,
        ),
        *effort_words(options.examples, seed),
        *spread_words(options.order, seed, jobs),
        *options.pytest_args,
    ]


def _known_words(options: RunOptions) -> list[str]:
    """Return pytest's words for the files of known failures."""
    if options.write_known and len(options.names) > 1:
        raise click.UsageError("--write-known: of one target at a time")
    files = {"known": options.known, "write-known": options.write_known}
    return [f"--{name}={file.resolve()}" for name, file in files.items() if file]


def _option_words(**options: str | bool | None) -> list[str]:
    """Return pytest's words for the options that have a value; True is a flag."""
    names = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    return [
        name if value is True else f"{name}={value}"
        for name, value in names.items()
        if value
    ]


def _report_words(report: Path | None, name: str, names: tuple[str, ...]) -> list[str]:
    """Return the options that write the reports."""
    if report is None:
        return []
    directory = report.resolve()
    if len(names) > 1:
        directory = folder_of(directory, name)
        try:
            keep_former(directory)
        except OSError as error:
            raise click.UsageError(f"--report {directory}: {error.strerror}") from None
    return [f"--report={directory}", f"--junitxml={directory / JUNIT}"]
