"""``rmqc test``: run the conformance suites against one target or several."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click
import pytest

from cli.chosen import chosen, print_chosen
from conformance.harness.embedded import SOURCES
from conformance.harness.options import DEFAULT_TARGET, SUITES
from conformance.harness.target import TargetError, parse_target, release_of_profile
from spec.registry import all_clauses

PLUGIN = "conformance.harness.plugin"
MOST_JOBS = 4
"""More workers than this only wait for the one target that they share."""

CONFORMS, FINDINGS, USAGE, NOT_RUN = 0, 1, 2, 3
EXIT_CODES = {
    pytest.ExitCode.OK: CONFORMS,
    pytest.ExitCode.TESTS_FAILED: FINDINGS,
    pytest.ExitCode.INTERRUPTED: NOT_RUN,
    pytest.ExitCode.INTERNAL_ERROR: NOT_RUN,
    pytest.ExitCode.USAGE_ERROR: USAGE,
    pytest.ExitCode.NO_TESTS_COLLECTED: USAGE,
}
GRAVEST_FIRST = (USAGE, FINDINGS, NOT_RUN, CONFORMS)


@click.command(
    context_settings={
        "ignore_unknown_options": True,
        "help_option_names": ["-h", "--help"],
    }
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="What to test; may be given several times: embedded: (the reference, the"
    " default), HOST:PORT of a name server, jvm:RELEASE[?conf=value&...],"
    " cmd:target.toml (see rmqc target template), mutant:ID, store:/path.",
)
@click.option("--profile", metavar="RELEASE", help="Judge it as this release, as 4.6.")
@click.option("--suite", metavar="A,B", help=f"Only these of {','.join(SUITES)}.")
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file of known failures, each with a reason; a stale entry fails.",
)
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for report.json and junit.xml; of several targets, one for each"
    " and matrix.html.",
)
@click.option("--read-only", is_flag=True, help="Only tests that write nothing.")
@click.option(
    "--against-evidence",
    is_flag=True,
    help="Fail where an outcome is not the recorded one of the release.",
)
@click.option(
    "--only",
    metavar="ID,ROOM-*",
    help="Only tests that name one of these clauses; * and ? stand for anything.",
)
@click.option(
    "--level", metavar="LEVEL,...", help="Only clauses of this level, as MUST."
)
@click.option("--list", "listed", is_flag=True, help="List the clauses; run nothing.")
@click.option("--jobs", type=int, help="Parallel workers; 0 runs in this process.")
@click.option(
    "--against",
    metavar="TARGET",
    help="Run no suite: give generated programs to both targets and compare answers.",
)
@click.option(
    "--examples",
    metavar="N|quick|deep",
    default="quick",
    help="How many programs, with --against.  [default: quick, 50; deep is 2000]",
)
@click.option("--seed", type=int, default=0, help="Of the programs, with --against.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(
    targets: tuple[str, ...],
    profile: str | None,
    suite: str | None,
    known: Path | None,
    report: Path | None,
    read_only: bool,
    against_evidence: bool,
    only: str | None,
    level: str | None,
    listed: bool,
    jobs: int | None,
    against: str | None,
    examples: str,
    seed: int,
    pytest_args: tuple[str, ...],
) -> None:
    """Run the conformance suites against a target.

    Further arguments go to pytest, for example -k NAME or -x.

    Exit codes: 0 the target conforms, 1 it does not, 2 usage, 3 the harness or the
    target failed to run. With --against: 0 no difference that nothing explains, 1 some.
    """
    names = targets or (DEFAULT_TARGET,)
    _check((*names, against) if against else names, profile)
    if against:
        if len(names) > 1 or read_only or pytest_args:
            raise click.UsageError("--against: one --target, and nothing for pytest")
        from cli.differential import compare_targets, programs_of

        how = {"examples": programs_of(examples), "seed": seed}
        sys.exit(
            compare_targets(names[0], against, profile=profile, report=report, **how)
        )
    wanted = chosen(only, level)
    if listed:
        print_chosen(all_clauses().values() if wanted is None else wanted)
        return
    words = [*_paths(suite), *_plain(profile=profile, suite=suite)]
    words += [f"--known={known.resolve()}"] if known else []
    words += ["--read-only"] if read_only else []
    if wanted is not None:
        words.append(f"--only-clauses={','.join(one.id for one in wanted)}")
    words += ["--against-evidence"] if against_evidence else []
    words += ["-n", str(_jobs(jobs, pytest_args)), *pytest_args]
    codes = [_run(name, words, _report_for(report, name, names)) for name in names]
    if report is not None and len(names) > 1:
        _write_matrix(report, [_folder(report, name, names) for name in names])
    sys.exit(next(code for code in GRAVEST_FIRST if code in codes))


def _check(names: tuple[str, ...], profile: str | None) -> None:
    """Refuse what is no target before anything runs."""
    try:
        for name in names:
            parse_target(name).close()
        if profile:
            release_of_profile(profile)
    except (TargetError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _paths(suite: str | None) -> list[str]:
    """Return the folders of the wanted suites, those that exist."""
    room = SOURCES / "conformance"
    wanted = suite.split(",") if suite else SUITES
    folders = [room / name for name in wanted if (room / name).is_dir()]
    return [str(folder) for folder in folders if any(folder.glob("test_*.py"))]


def _plain(**options: str | None) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items() if value]


def _jobs(jobs: int | None, pytest_args: tuple[str, ...]) -> int:
    """Return how many workers to use; one test is faster without any."""
    if jobs is not None:
        return jobs
    chosen = any(word == "-k" or "::" in word for word in pytest_args)
    return 0 if chosen else min(MOST_JOBS, os.cpu_count() or 1)


def _report_for(report: Path | None, name: str, names: tuple[str, ...]) -> list[str]:
    """Return the options that write the reports."""
    if report is None:
        return []
    directory = _folder(report, name, names)
    return [f"--report={directory}", f"--junitxml={directory / 'junit.xml'}"]


def _folder(report: Path, name: str, names: tuple[str, ...]) -> Path:
    """Return where the reports on *name* go: of several targets, one for each."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
    return (report / slug if len(names) > 1 else report).resolve()


def _write_matrix(report: Path, folders: list[Path]) -> None:
    """Put the reports of all targets that ran side by side."""
    from conformance.harness.matrix import matrix_of, render
    from conformance.harness.report import FILE_NAME, read_report

    files = [file for folder in folders if (file := folder / FILE_NAME).exists()]
    if files:
        page = report / "matrix.html"
        made = matrix_of([read_report(file) for file in files])
        page.write_text(render(made, page.suffix), encoding="utf-8")
        click.echo(f"{page}: {len(files)} targets side by side")


def _run(name: str, words: list[str], reports: list[str]) -> int:
    """Run pytest once, against *name*, and return our exit code."""
    fixed = ["-p", PLUGIN, f"--rootdir={SOURCES}", "--import-mode=importlib", "-q"]
    fixed += ["-p", "no:cacheprovider", "--require-target", f"--target={name}"]
    code = pytest.main([*fixed, *reports, *words])
    return EXIT_CODES.get(pytest.ExitCode(code), NOT_RUN)
