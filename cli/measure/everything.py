"""``rmqc bench growth``, ``idle``, and ``all``, which writes the page."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

import click

from cli.measure.options import (
    CHECK,
    RELEASE,
    SECONDS,
    SIZE,
    BenchRun,
    bench_options,
)
from cli.measure.result import failures_reported, goal_line, show_progress
from cli.options.common import LocalPath, list_option
from cli.options.exit_codes import FINDINGS, SUCCESS, FailedCommand
from cli.options.selection import select

DOCS = Path("docs")


@click.command()
@bench_options(has_rounds=False)
@click.option(
    "--messages",
    type=click.IntRange(min=5_000),
    default=100_000,
    show_default=True,
    help="The last mark; each mark before is a tenth.",
)
@click.option(
    "--topics",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="The last mark; each mark before is a hundredth.",
)
def growth(run: BenchRun, *, messages: int, topics: int) -> None:
    """Measure cost and memory of a message with many messages and many topics.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 a broker failed.
    """
    from bench.measurements.growth import Marks, marks_up_to, measure

    marks = Marks(
        messages=marks_up_to(messages, first=10_000, factor=10),
        topics=marks_up_to(topics, first=1, factor=100),
    )
    run.report(measure, marks)


@click.command()
@bench_options()
@SECONDS
@SIZE
@click.option(
    "--consumers",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Connections with a held pull.",
)
def idle(run: BenchRun, *, seconds: float, body_size: int, consumers: int) -> None:
    """Let 16 producers send while many consumers wait; memory and latency.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 a broker failed.
    """
    from bench.measurements.idle import Size, measure

    size = Size(
        consumers=consumers, rounds=run.rounds, seconds=seconds, body_size=body_size
    )
    run.report(measure, size)


@click.command("all")
@RELEASE
@list_option("--only", help="Only these measurements, as send,growth or send*.")
@click.option("--short", is_flag=True, help="Measure less: a first impression.")
@click.option("--long", is_flag=True, help="Measure more: an hour.")
@click.option("--page-only", is_flag=True, help="Measure nothing; write the page.")
@click.option(
    "--docs",
    type=LocalPath(file_okay=False, path_type=Path),
    default=DOCS,
    show_default=True,
    help="Folder of performance.md and performance/.",
)
@CHECK
def everything(
    *,
    release: str,
    only: str | None,
    short: bool,
    long: bool,
    page_only: bool,
    docs: Path,
    check: bool,
) -> None:
    """Measure everything, keep the results, and write the page on performance.

    On an idle machine that takes a quarter of an hour at most.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no such measurement,
    3 Java, a broker or a client failed.
    """
    from bench.measurements.everything import TITLES, Amount, run
    from bench.report.page import keep, kept, page

    if short and long:
        raise click.UsageError("--short and --long are two amounts; name one")
    amount = Amount.SHORT if short else Amount.LONG if long else Amount.STANDARD
    names = select(only or "*", TITLES, kind="measurement")
    folder = docs / "performance"
    failed = 0
    for name in [] if page_only else names:
        try:
            with _as_target_error():
                found = run(name, release, amount, progress=show_progress)
        except FailedCommand as error:
            error.show()  # the others are still measured
            failed = max(failed, error.exit_code)
            continue
        keep(name, found, folder)
        click.echo("\n".join(map(goal_line, found.goals)))
    reports = kept(folder, TITLES)
    (docs / "performance.md").write_text(page(reports, TITLES), encoding="utf-8")
    missed = any(reports[name].misses_goal for name in names if name in reports)
    sys.exit(failed or (FINDINGS if check and missed else SUCCESS))


def _as_target_error() -> AbstractContextManager[None]:
    """End the program with one line when any of the measurements fails."""
    from bench.measurements.audit import AuditBenchError, NoDiskError
    from bench.measurements.namesrv import NameServerBenchError
    from bench.processes.java_decoder import JavaDecoderError
    from bench.processes.recorded_log import NoLogError
    from spark_checks.session.failures import SparkError

    return failures_reported(
        failed=(AuditBenchError, JavaDecoderError, NameServerBenchError, SparkError),
        unusable=(NoDiskError, NoLogError),
    )


COMMANDS = (growth, idle, everything)
