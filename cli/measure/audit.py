"""``rmqc bench audit``: an audit beside the scan of the same log by Apache's broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.measure.options import BenchRun, bench_options
from cli.measure.result import failures_reported, finish, goal_line, show_progress
from cli.options.common import Decorator, LocalPath, list_option

if TYPE_CHECKING:
    from bench.measurements.audit import AuditReport, Way

GIBIBYTE = 1 << 30


def read_sizes(_ctx: click.Context, _option: click.Parameter, given: str) -> list[int]:
    """Return the bytes of each of the gigabytes in *given*."""
    try:
        sizes = [float(part.strip().rstrip("Gg")) for part in given.split(",")]
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list such as 0.25,1,4") from None
    if not all(0.001 <= size <= 1024 for size in sizes):
        raise click.BadParameter("sizes are from 0.001 to 1024 gigabytes")
    return [int(size * GIBIBYTE) for size in sorted(sizes)]


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of generated stores: their sizes, folder and kind."""
    options: list[Decorator] = [
        list_option(
            "--size",
            "--curve",
            "sizes",
            metavar="GIGABYTES,...",
            default="4",
            show_default=True,
            callback=read_sizes,
            help="Sizes of the generated commit logs, which are removed afterwards.",
        ),
        click.option(
            "--directory",
            type=LocalPath(file_okay=False, exists=True, path_type=Path),
            help="Folder of the stores during the run (default: temporary files).",
        ),
        click.option(
            "--uniform",
            "is_uniform",
            is_flag=True,
            help="Stores of equal messages without keys, which are generated in a tenth"
            " of the time.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@store_options
@click.option("--master", default="local[2]", show_default=True, help="Spark master.")
@bench_options()
def audit(
    options: BenchRun,
    *,
    sizes: list[int],
    master: str,
    directory: Path | None,
    is_uniform: bool,
) -> None:
    """Audit a store in full, and have Apache's broker code scan its log, in turns.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no room on the disk,
    3 Java or Spark failed.
    """
    from bench.measurements.audit import AuditBenchError, NoDiskError, Run, measure
    from spark_checks.session.failures import SparkError

    run = Run(
        master=master,
        release=options.release,
        rounds=options.rounds,
        directory=directory,
        is_uniform=is_uniform,
    )
    with failures_reported(
        failed=(AuditBenchError, SparkError), unusable=(NoDiskError,)
    ):
        found = measure(sizes, run, progress=show_progress)
    finish(found, form=options.form, check=options.check, table=as_table)


def as_table(found: AuditReport) -> str:
    """Return the report as lines for people."""
    lines = [
        f"{found.master}, RocketMQ {found.machine.rocketmq} on"
        f" {found.machine.processors} processors,"
        f" load {found.machine.load:g} at the start,"
        f" median of {found.rounds} rounds",
        "",
    ]
    for point in found.points:
        lines += [
            f"{point.bytes / 1e9:.2f} GB, {point.records:,} records,"
            f" {point.findings} findings: {point.ratio.median:.2f} x",
            _way_line("audit", point.audit),
            _way_line("java", point.java),
            f"  memory {point.memory.peak_mib} MiB: "
            + ", ".join(f"{n} {m}" for n, m in point.memory.parts_mib.items()),
        ]
    if found.linearity is not None:
        lines += ["", f"{found.linearity:>8.2f} x the time per byte, last to first"]
    return "\n".join([*lines, "", *map(goal_line, found.goals)])


def _way_line(name: str, way: Way) -> str:
    core, seconds = way.mb_per_s_per_core, way.seconds
    return (
        f"  {name:<6} {seconds.median:>8.2f} s"
        f" ({seconds.lowest:.2f} to {seconds.highest:.2f}),"
        f" {way.mb_per_s:g} MB/s"
        + (f", {core:g} MB/s per core" if core else "")
        + f", {way.processor_s.median:.1f} s of processors"
        f", starts in {way.start_s:.1f} s"
    )
