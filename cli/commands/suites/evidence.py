"""
``rmqc evidence``: the observed behaviour of real releases, recorded and compared.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from cli.options.common import CommandGroup, LocalPath
from cli.options.exit_codes import FINDINGS, SUCCESS, WrongValueError, fail
from cli.options.releases import releases_option
from cli.runs.suites.clause_tests import clause_tests
from cli.runs.suites.release_runs import Runs
from cli.runs.suites.release_study import (
    NAMES,
    REQUESTS,
    StepError,
    run_steps,
    steps,
)
from conformance.harness.pytest_plugin.options import BROKER_SUITES
from conformance.harness.releases import PINNED
from conformance.harness.report.evidence.evidence import (
    Recording,
    evidence_of,
    java_in_use,
    merge_evidence,
)
from conformance.harness.report.evidence.evidence_differences import (
    compare,
    difference_lines,
    is_release,
)
from conformance.harness.report.evidence.range_record import keep_ranges
from conformance.harness.report.evidence.request_coverage import requests_without_entry
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import ClauseEntry
from conformance.harness.report.terminal.line_width import wrapped
from conformance.harness.targets.started.embedded import SOURCES
from spec.observed import (
    OUTCOMES,
    SETTLED,
    Observed,
    all_evidence,
    encode_observed,
)
from spec.registry import all_clauses

RELEASE = releases_option(
    "Only this release, as 4.6; may be given several times.", among=lambda: PINNED
)
JOBS = click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Parallel workers of each run; 0 runs in its own process.",
)
FOLDER = SOURCES / "spec" / "evidence"


def _whole_release(_ctx: click.Context, _argument: click.Parameter, text: str) -> str:
    """Return *text* if it is a release of three numbers."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise WrongValueError(f"{text!r} is not a release such as 5.6.0")
    return text


def released(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for runs of the suites on releases to *command*."""
    options = (
        click.argument(
            "files",
            metavar="[REPORT]...",
            nargs=-1,
            type=LocalPath(exists=True, dir_okay=False, path_type=Path),
        ),
        RELEASE,
        click.option(
            "--logs",
            type=LocalPath(file_okay=False, path_type=Path),
            help="Keep the reports and the output of the runs in this directory.",
        ),
        JOBS,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=CommandGroup)
def evidence() -> None:
    """Record the behaviour of real releases, or compare it with the record."""


@evidence.command()
@released
@click.option(
    "--younger",
    is_flag=True,
    help="Run only what is not yet seen to pass, and keep what is; or add REPORTs of"
    " parts of the suites.",
)
def record(
    *,
    files: tuple[Path, ...],
    releases: tuple[str, ...],
    logs: Path | None,
    jobs: int,
    younger: bool,
) -> None:
    """Record the behaviour of real releases.

    The records are in spec/evidence, one file a release.

    The suites run on one release after the other. REPORTs of whole runs on jvm:
    targets replace these runs.

    Exit codes: 0 recorded, 1 recorded, but a release fails a clause, 2 usage, 3 a
    release did not run.
    """
    made: dict[str, Observed] = {}
    runs, recording = _runs(files, releases, logs, jobs), _recording()
    if younger:
        runs = _younger_only(runs)
    with runs.reports() as reports:
        for report in reports:
            release = report.target.release
            # Several reports may be of parts of the suites on one release.
            older = made.get(release) or all_evidence().get(release)
            observed = made[release] = (
                merge_evidence(older, report, recording)
                if younger
                else evidence_of(report, recording)
            )
            _write(observed)
            click.echo(_figures(observed))
    failing = [line for observed in made.values() for line in _failing(observed)]
    for line in failing:
        click.echo(line)
    sys.exit(FINDINGS if failing else SUCCESS)


@evidence.command()
@released
def check(
    files: tuple[Path, ...], releases: tuple[str, ...], logs: Path | None, jobs: int
) -> None:
    """Compare releases with their records; write nothing.

    The suites run on one release after the other. REPORTs of any target replace these
    runs, and are compared with the record of their profile's release.

    Exit codes: 0 as recorded, 1 different, 2 usage or no evidence, 3 a release did not
    run.
    """
    contradicted = False
    with _runs(files, releases, logs, jobs).reports() as reports:
        for report in reports:
            text, release = report.target.text, report.target.release
            observed = all_evidence().get(release)
            if observed is None:
                raise click.UsageError(
                    f"{text}: no evidence is recorded for {release!r}"
                )
            outcomes = {one.id: one.outcome.value for one in report.results}
            found = compare(outcomes, observed)
            whole = is_release(text, release)
            contradicted |= found.contradicts(whole=whole)
            click.echo("\n".join([f"{text}:", *difference_lines(found)]))
            if whole and found.lost:
                click.echo(f"no longer observed: {' '.join(found.lost)}")
    sys.exit(FINDINGS if contradicted else SUCCESS)


@evidence.command()
@RELEASE
@JOBS
def ranges(releases: tuple[str, ...], jobs: int) -> None:
    """Test releases against clauses of other releases, and record the outcomes.

    A clause that passes outside its range may have too narrow a range. Two causes are
    harmless: behaviour that came back, and behaviour that only a race shows. A failure
    confirms the range, and shows that the test can fail. The record is
    fixtures/mutants/ranges.json.

    Exit codes: 0 tested, 2 usage, 3 a release did not run.
    """
    runs = Runs(
        releases=releases or PINNED,
        jobs=jobs,
        words=lambda _release: ["--beyond-range"],
    )
    with runs.reports() as reports:
        for report in reports:
            release = report.target.release
            beyond = [one for one in report.results if _is_beyond(one, release)]
            keep_ranges(release, beyond)
            met = [one.id for one in beyond if one.outcome is Outcome.PASS]
            click.echo(
                f"{release}: of {len(beyond)} clauses about other releases it does not"
                f" meet {len(beyond) - len(met)}, and meets {len(met)}:"
            )
            for name in met:
                one = all_clauses()[name]
                click.echo(f"  {name} ({one.since} to {one.until or 'now'}) {one.text}")


@evidence.command("list")
def list_() -> None:
    """List the recorded releases.

    Each has its date, Java, and the number of clauses by outcome.

    A clause is younger than the evidence if a test names it and the evidence of the
    release has no outcome of it yet. The next record adds the outcome.
    """
    for observed in all_evidence().values():
        younger = len(younger_clauses(observed))
        line = _figures(observed) + (f"; {younger} younger" if younger else "")
        click.echo(wrapped(line))


@evidence.command()
@click.argument("release", callback=_whole_release)
@click.option(
    "--from",
    "first",
    type=click.Choice(NAMES),
    metavar="STEP",
    default=NAMES[0],
    show_default=True,
    help="Begin with this step of --list: the earlier ones are done.",
)
@click.option("--list", "only_list", is_flag=True, help="List the steps and end.")
def study(*, release: str, first: str, only_list: bool) -> None:
    """Study a new release, such as 5.6.0: run every step in a checkout.

    Jars, header table, changes, evidence, recorded bytes and pages follow one another.
    An interrupted study goes on with --from. The clauses that follow are an author's
    work: docs/new_release.md.

    Exit codes: 0 all request codes have clauses or a reason, 1 some have not, 2 usage,
    3 a step failed.
    """
    if only_list:
        for step in steps(release):
            click.echo(f"{step.name:<9} {' '.join(step.words)}".rstrip())
        return
    if not (SOURCES / "fixtures" / "record").is_dir():
        raise click.UsageError("a study needs a checkout of the project")
    try:
        for line in run_steps(release, first):
            click.echo(line)
    except StepError as error:
        fail(error)
    missing = requests_without_entry(release)
    for name in missing:
        click.echo(f"{name} has neither clauses nor a reason in {REQUESTS}")
    sys.exit(FINDINGS if missing else SUCCESS)


def tested_clauses() -> set[str]:
    """Return the clauses that a test of a suite about brokers names."""
    folders = tuple(f"conformance/{suite}/" for suite in BROKER_SUITES)
    return {
        clause_id
        for clause_id, tests in clause_tests(SOURCES).items()
        if clause_id in all_clauses()
        and any(test.startswith(folders) for test in tests)
    }


def younger_clauses(observed: Observed) -> list[str]:
    """Return the clauses that apply to the release and did not pass on it yet."""
    return sorted(
        name
        for name in tested_clauses()
        if all_clauses()[name].applies_to(observed.release)
        and observed.outcomes.get(name) != "pass"
    )


def _runs(
    files: tuple[Path, ...], releases: tuple[str, ...], logs: Path | None, jobs: int
) -> Runs:
    if files and releases:
        raise click.UsageError("either REPORTs or --release, not both")
    return Runs(releases=releases or PINNED, jobs=jobs, logs=logs, files=files)


def _is_beyond(entry: ClauseEntry, release: str) -> bool:
    """Return whether *entry* has an outcome of a clause outside *release*."""
    applies = all_clauses()[entry.id].applies_to(release)
    return not applies and entry.outcome in SETTLED


def _younger_only(runs: Runs) -> Runs:
    """Return *runs* without the clauses that passed on each release."""
    younger = {
        release: younger_clauses(all_evidence()[release])
        for release in runs.releases
        if release in all_evidence()
    }
    return replace(
        runs,
        releases=tuple(one for one in runs.releases if younger.get(one) != []),
        words=lambda release: [f"--only-clauses={','.join(younger.get(release, []))}"],
    )


def _recording() -> Recording:
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    tested = frozenset(tested_clauses())
    return Recording(tested=tested, recorded=today, java=java_in_use())


def _write(observed: Observed) -> None:
    file = FOLDER / f"{observed.release}.json"
    try:
        file.write_text(encode_observed(observed), encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}") from None


def _failing(observed: Observed) -> list[str]:
    """Return a line for each clause that a real release does not meet."""
    return [
        f"{observed.release} {outcome} {name}  {all_clauses()[name].text}"
        for name, outcome in sorted(observed.outcomes.items())
        if outcome in ("fail", "error", "known")
    ]


def _figures(observed: Observed) -> str:
    totals = ", ".join(f"{observed.totals[name]} {name}" for name in OUTCOMES)
    return f"{observed.release}  {observed.recorded}  Java {observed.java}  {totals}"
