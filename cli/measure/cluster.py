"""``rmqc bench cluster``: an audit by a Spark cluster beside the same audit here."""

from __future__ import annotations

from pathlib import Path

import click

from cli.measure.audit import store_options
from cli.measure.options import BenchRun, bench_options
from cli.measure.result import failures_reported, finish, show_progress
from cli.options.common import list_option


def _read_workers(
    _ctx: click.Context, _option: click.Parameter, given: str
) -> list[int]:
    """Return the numbers of workers in *given*."""
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 64 for part in parts):
        raise click.BadParameter(f"{given!r} is not a list such as 1,2,4")
    return list(map(int, parts))


@click.command()
@store_options
@list_option(
    "--workers",
    metavar="NUMBER,...",
    default="2",
    show_default=True,
    callback=_read_workers,
    help="Workers of the clusters, with one processor each.",
)
@bench_options()
def cluster(
    options: BenchRun,
    *,
    sizes: list[int],
    workers: list[int],
    directory: Path | None,
    is_uniform: bool,
) -> None:
    """Audit a store on a standalone Spark cluster, and by local[2], in turns.

    Master and workers are separate processes of this machine. Stores are at least
    1 GB per worker, because smaller ones are audited without kernels.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no room on the disk,
    3 Spark failed.
    """
    from bench.measurements.audit import AuditBenchError, NoDiskError, Run
    from bench.measurements.cluster import measure
    from spark_checks.session.failures import SparkError

    run = Run(
        master="local[2]",
        release=options.release,
        rounds=options.rounds,
        directory=directory,
        is_uniform=is_uniform,
    )
    with failures_reported(
        failed=(AuditBenchError, SparkError), unusable=(NoDiskError,)
    ):
        found = measure(dict.fromkeys(sizes, workers), run, progress=show_progress)
    finish(found, form=options.form, check=options.check)
