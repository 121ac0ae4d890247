"""``rmqc test``: run the conformance suites against one target or several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from cli.options.common import LocalPath, list_option
from cli.options.exit_codes import NOT_RUN, WrongValueError
from cli.options.selection import select
from cli.options.suites import completions as completing
from cli.options.suites.clause_selection import chosen
from cli.options.suites.run_options import (
    KNOWN,
    LEVEL,
    LISTED,
    ONLY,
    PROFILE,
    WRITE_KNOWN,
)
from cli.runs.suites.listing import (
    TestsByClause,
    count_tests,
    print_clauses,
    read_only_suites,
    selected_tests,
    suites_with_tests,
    without_writers,
)
from cli.runs.suites.target_runs import (
    STORE,
    RunOptions,
    are_stores,
    pytest_words,
    run_each,
)
from cli.runs.suites.workers import ORDERS
from conformance.harness.pytest_plugin.options import BROKER_SUITES, SUITES
from conformance.harness.targets.target import (
    TargetError,
    is_client,
    parse_target,
    release_of_profile,
)
from spec.clause import Clause

CLIENT_SUITE, STORE_SUITE = "client", "store"


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
    shell_complete=completing.targets,
    help="Target; may be given several times: embedded: (the reference, the default),"
    " HOST:PORT of a name server, jvm:RELEASE[?conf=value&...], docker:IMAGE[?conf],"
    " cmd:target.toml (see rmqc target template), mutant:ID, store:/path.",
)
@PROFILE
@list_option(
    "--suite",
    metavar="A,B",
    shell_complete=completing.suites,
    help=f"Only these of {', '.join(SUITES)}; client with rmqc test-client.",
)
@KNOWN
@WRITE_KNOWN
@click.option(
    "--report",
    type=LocalPath(file_okay=False, path_type=Path),
    help="Directory for report.html, report.json, junit.xml, a summary, a badge and"
    " captures of failing tests; for several targets, a folder each and matrix.html.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Only tests that do not write: most of --suite wire. All others write to"
    " topics and groups with unique names.",
)
@click.option(
    "--no-baseline",
    is_flag=True,
    help="Do not check the simplest requests before the tests.",
)
@click.option(
    "--may-configure",
    is_flag=True,
    help="Change settings of a running cluster where tests need others, and put them"
    " back. One test runs at a time. Apache's servers rewrite their configuration"
    " files then.",
)
@click.option(
    "--against-evidence",
    is_flag=True,
    help="Fail if an outcome differs from the record of the release.",
)
@ONLY
@LEVEL
@LISTED
@list_option(
    "--explain",
    metavar="ID,FAMILY-*",
    shell_complete=completing.chosen_clauses,
    help="Show clauses, their sources, tests and evidence; run nothing.",
)
@click.option(
    "--jobs",
    type=click.IntRange(0),
    help="Parallel workers; 0 runs in this process. By default several for each core,"
    " because most tests wait, and none for a few tests.",
)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="usual",
    help="random: an order and examples from --seed, or from a random seed, which is"
    " printed.",
)
@click.option(
    "--against",
    metavar="TARGET",
    shell_complete=completing.targets,
    help="Instead of the suites, run generated programs on both targets and compare.",
)
@click.option(
    "--examples",
    metavar="N|quick|deep",
    default="quick",
    help="Effort of generated tests: quick (the default) is the same on every run, N"
    " is the number of histories of each stateful machine. With --against, the number"
    " of programs: quick is 50, deep 2000.",
)
@click.option("--seed", type=int, help="Seed of the generated tests.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(**given: Any) -> None:
    """Run the conformance suites against a target.

    Further arguments go to pytest, for example -k NAME or -x.

    Exit codes: 0 the target conforms, 1 it does not, 2 usage, 3 no verdict. A run has
    no verdict if nothing was checked, or the harness or the target failed to run. With
    --against: 0 without unexplained differences, 1 with some. Ctrl-C: 130.
    """
    options = RunOptions(**given)
    if options.explain:
        _explain(options.explain)
        return
    _check(options)
    if options.against:
        sys.exit(_compare(options, options.against))
    if options.listed:
        _list(options)
        return
    sys.exit(_run(options))


def _explain(selection: str) -> None:
    """Print the selected clauses, with their sources, tests and evidence."""
    from cli.commands.suites.spec import show  # exports take 0.3 s to import

    click.get_current_context().invoke(show, selection=(selection,))


def _compare(options: RunOptions, against: str) -> int:
    """Compare two targets by generated programs, and return the exit code."""
    from cli.runs.suites.differential import compare_targets, programs_of

    return compare_targets(
        options.names[0],
        against,
        examples=programs_of(options.examples),
        seed=options.seed or 0,
        profile=options.profile,
        report=options.report,
    )


def _list(options: RunOptions) -> None:
    """Print the selected clauses; end the program without one."""
    wanted = chosen(options.only, options.level)
    known = suites_of(options.targets) if options.targets else ",".join(SUITES)
    tests = selected_tests(_suites(options.suite or known), options.keywords)
    if options.is_reading:
        tests = without_writers(tests)
    count = print_clauses(
        wanted,
        tests,
        release=release_of_profile(options.profile) if options.profile else None,
        has_tests_only=options.is_part,
    )
    if not count:
        where = suites_with_tests(wanted or ())
        advice = f"; {', '.join(where)} has some" if where else ""
        _exit_unchecked(f"no selected clause has a selected test{advice}")


def _run(options: RunOptions) -> int:
    """Run the suites on each target, and return the gravest exit code."""
    wanted = chosen(options.only, options.level)
    suites = _suites_to_run(options.suite, options.names)
    if options.is_reading:
        _check_reads(selected_tests(suites, options.keywords), wanted)
    test_count = _test_count(suites, options.keywords, wanted, options.jobs)
    return run_each(options, pytest_words(options, suites, wanted, test_count))


def _check(options: RunOptions) -> None:
    """Raise UsageError for invalid words or targets, before any run."""
    _check_words(options.pytest_args)
    names, against = options.names, options.against
    try:
        for name in (*names, against) if against else names:
            parse_target(name).close()
        if options.profile:
            release_of_profile(options.profile)
    except (TargetError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    if against and (len(names) > 1 or options.read_only or options.pytest_args):
        raise click.UsageError("--against: one --target, and nothing for pytest")


def _check_words(pytest_args: tuple[str, ...]) -> None:
    """Raise UsageError for a first word that pytest would take for a missing file."""
    first = pytest_args[0] if pytest_args else "-"
    if not first.startswith("-") and not Path(first.partition("::")[0]).exists():
        raise click.UsageError(f"a target follows its option: --target {first}")


def suites_of(names: tuple[str, ...]) -> str:
    """Return the suites that are about targets of these names."""
    kinds = set(map(is_client, names))
    if len(kinds) > 1:
        raise click.UsageError("--target: clients and brokers are tested apart")
    if kinds.pop():
        return CLIENT_SUITE
    return STORE_SUITE if are_stores(names) else ",".join(BROKER_SUITES)


def _suites(text: str) -> list[str]:
    """Return the suites that *text* selects."""
    return select(text, SUITES, kind="suite")


def _suites_to_run(suite: str | None, names: tuple[str, ...]) -> list[str]:
    """Return the suites for the targets *names*, of which *suite* may select some."""
    usual = suites_of(names)
    if not suite and usual == STORE_SUITE:
        click.echo(
            f"{STORE} the suite {STORE_SUITE}; the others need a running broker",
            err=True,
        )
    suites = _suites(suite or usual)
    if suites == [CLIENT_SUITE] and usual != CLIENT_SUITE:
        raise WrongValueError(
            f"--suite {CLIENT_SUITE} tests clients: rmqc test-client --adapter CMD"
        )
    return suites


def _test_count(
    suites: Sequence[str],
    keywords: str,
    wanted: Sequence[Clause] | None,
    jobs: int | None,
) -> int | None:
    """Return the number of selected tests, None where nothing depends on it.

    Ends the program where no test names a selected clause. Reading the tests takes a
    second, and those of all suites are enough for all workers.
    """
    is_part = bool(keywords) or len(suites) < len(BROKER_SUITES)
    if wanted is None and (jobs is not None or not is_part):
        return None
    count = count_tests(selected_tests(suites, keywords), wanted)
    if wanted is not None and not count:
        where = suites_with_tests(wanted)
        advice = f"those of {', '.join(where)} do" if where else "they have no test"
        named = ", ".join(suites)
        _exit_unchecked(f"no test of {named} names these clauses; {advice}")
    return count


def _exit_unchecked(reason: str) -> NoReturn:
    """End the program: no clause got a verdict."""
    click.echo(f"checked nothing: {reason}", err=True)
    sys.exit(NOT_RUN)


def _check_reads(tests: TestsByClause, wanted: Sequence[Clause] | None) -> None:
    """Print how many clauses a run can check that writes nothing; end it for none."""
    ids = tests.keys() if wanted is None else {one.id for one in wanted}
    reading = without_writers(tests)
    checked = len(ids & reading.keys())
    if not checked:
        able = ",".join(read_only_suites())
        _exit_unchecked(
            f"each selected test writes. --read-only checks clauses of --suite {able};"
            " without it, tests write to topics of their own"
        )
    click.echo(
        f"--read-only: tests of {checked} of {len(ids & tests.keys())} clauses write"
        " nothing; the other clauses are not checked",
        err=True,
    )
