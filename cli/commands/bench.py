"""``rmqc bench``: measurements, each a ratio against the real thing in one run."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.measure.audit import audit
from cli.measure.broker import COMMANDS
from cli.measure.cluster import cluster
from cli.measure.options import SECONDS, BenchRun, bench_options
from cli.measure.result import failures_reported, finish, goal_line, show_progress
from cli.options.common import CommandGroup, LocalPath

if TYPE_CHECKING:
    from bench.measurements.codec import CodecReport
    from bench.measurements.namesrv import RoutesReport


@click.group(cls=CommandGroup)
def bench() -> None:
    """Measure, against the real thing and in one run."""
    importlib.import_module("uvloop")  # without it `serve` is slower than it can be


for command in (*COMMANDS, audit, cluster):
    bench.add_command(command)


@bench.command()
@click.option(
    "--store",
    type=LocalPath(exists=True, path_type=Path),
    help="A store, or one commit-log file, to decode; it is only read.",
)
@click.option(
    "--from",
    "target",
    default="jvm:4.6.0",
    show_default=True,
    metavar="TARGET",
    help="Without --store: the broker that writes the log, kept in the user's cache.",
)
@click.option("--fresh", is_flag=True, help="Write the log again.")
@bench_options()
def codec(run: BenchRun, *, store: Path | None, target: str, fresh: bool) -> None:
    """Decode a 64 MB commit log in every way, Java's own decoder among them.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no log to read,
    3 Java or the broker failed.
    """
    from bench.measurements.codec import measure
    from bench.processes.java_decoder import JavaDecoderError
    from bench.processes.recorded_log import NoLogError, given_log, recorded_log

    with failures_reported(failed=(JavaDecoderError,), unusable=(NoLogError,)):
        show_progress("getting the commit log")
        log = given_log(store) if store else recorded_log(target, fresh=fresh)
        found = measure(
            log, release=run.release, rounds=run.rounds, progress=show_progress
        )
    finish(found, form=run.form, check=run.check, table=as_table)


@bench.command()
@bench_options()
@SECONDS
@click.option(
    "--topics",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Registered topics.",
)
@click.option(
    "--brokers",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Brokers that register them.",
)
def namesrv(run: BenchRun, *, topics: int, brokers: int, seconds: float) -> None:
    """Get routes from the reference and from Apache's name server, in turns.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 Java, a name server
    or the client failed.
    """
    from bench.measurements.namesrv import NameServerBenchError, Size, measure

    size = Size(topics=topics, brokers=brokers, rounds=run.rounds, seconds=seconds)
    with failures_reported(failed=(NameServerBenchError,)):
        found = measure(run.release, size, progress=show_progress)
    finish(found, form=run.form, check=run.check, table=routes_table)


def routes_table(found: RoutesReport) -> str:
    """Return the report on name servers as lines for people."""
    lines = [
        f"{found.topics} topics of {found.brokers} brokers each,"
        f" RocketMQ {found.machine.rocketmq},"
        f" median of {found.rounds} rounds of {found.turn_s:g} s",
        "",
    ]
    lines += [
        f"{routes.routes_per_s:>10,} routes/s"
        f"  p99 {routes.p99_ms:>8.3f} ms"
        f"  {who:<10} {shape.connections} connections"
        f" x {shape.outstanding} requests outstanding"
        for shape in found.shapes
        for who, routes in (("reference", shape.reference), ("apache", shape.apache))
    ]
    lines.append("")
    lines += map(goal_line, found.goals)
    return "\n".join(lines)


def as_table(found: CodecReport) -> str:
    """Return the report as lines for people."""
    log, machine = found.log, found.machine
    lines = [
        f"{log.records} records, {log.bytes} bytes, written by {log.origin};"
        f" Java {machine.java}, RocketMQ {machine.rocketmq},"
        f" median of {found.rounds} rounds",
        "",
    ]
    lines += [
        f"{way.records_per_s:>12,} records/s  {way.id:<14} {way.description}"
        for way in found.ways
    ]
    lines.append("")
    lines += map(goal_line, found.goals)
    return "\n".join(lines)
