"""``rmqc bench send``, ``pull``, ``start``, ``recovery`` and ``suite``."""

from __future__ import annotations

import click

from cli.measure.everything import COMMANDS as MORE
from cli.measure.options import SECONDS, SIZE, BenchRun, bench_options
from cli.options.common import list_option


def _threads(_ctx: click.Context, _option: click.Parameter, given: str) -> list[int]:
    try:
        found = [int(word) for word in given.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise click.BadParameter(f"{given!r} is not a list of counts such as 1,16")
    return found


@click.command()
@bench_options()
@SECONDS
@SIZE
@list_option(
    "--threads",
    default="1,16",
    show_default=True,
    callback=_threads,
    help="Producing threads; each count is one measurement.",
)
@click.option(
    "--flush",
    type=click.Choice(["ASYNC", "SYNC"]),
    default="ASYNC",
    show_default=True,
    help="Whether producers wait for the disk.",
)
@click.option("--batch", type=click.IntRange(min=2), help="Messages in one send.")
@click.option(
    "--oneway",
    is_flag=True,
    help="Send without responses; the stored messages are counted.",
)
def send(
    run: BenchRun,
    *,
    seconds: float,
    body_size: int,
    threads: list[int],
    flush: str,
    batch: int | None,
    oneway: bool,
) -> None:
    """Send to the reference and to a real broker, with the real client, in turns.

    The clients are Apache's benchmark producers of 4.6.0. Every message that was sent
    has to be readable afterwards, and none twice.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 Java, a broker or a
    client failed.
    """
    from bench.measurements.send import BATCH, ONEWAY, SYNC, Shape, Size, measure

    if batch and oneway:
        raise click.UsageError("--batch or --oneway, not both")
    kind = BATCH if batch else ONEWAY if oneway else SYNC
    shapes = [Shape(threads=n, kind=kind, batch=batch or 1) for n in threads]
    size = Size(
        flush=flush,
        body_size=body_size,
        rounds=run.rounds,
        seconds=seconds,
        shapes=tuple(shapes),
    )
    run.report(measure, size)


@click.command()
@bench_options()
@SIZE
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=200_000,
    show_default=True,
    help="How many are stored before the consumer starts.",
)
def pull(run: BenchRun, *, body_size: int, messages: int) -> None:
    """Consume stored messages with Apache's benchmark consumer, in turns.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 Java, a broker or a
    client failed.
    """
    from bench.measurements.pull import Size, measure

    size = Size(messages=messages, body_size=body_size, rounds=run.rounds)
    run.report(measure, size)


@click.command()
@bench_options()
def start(run: BenchRun) -> None:
    """Measure from a command to a name server and a broker that serve.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 one did not start.
    """
    from bench.measurements.start import measure

    run.report(measure, run.rounds)


@click.command()
@bench_options(has_rounds=False)
@click.option(
    "--gigabytes",
    type=click.FloatRange(min=0.001),
    default=1.0,
    show_default=True,
    help="Of the store; the disk has to have room for three.",
)
def recovery(run: BenchRun, *, gigabytes: float) -> None:
    """Measure how long a start takes on a large store whose broker was killed.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no room on the disk,
    3 a broker did not start.
    """
    from bench.measurements.recovery import measure

    run.report(measure, gigabytes)


@click.command()
@bench_options(has_rounds=False)
@click.argument("words", nargs=-1)
def suite(run: BenchRun, *, words: tuple[str, ...]) -> None:
    """Measure how long `rmqc test` takes on the reference and on a real release.

    WORDS are more arguments of rmqc test; write -- before them.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 a run failed.
    """
    from bench.measurements.suite import measure

    run.report(measure, words)


COMMANDS = (send, pull, start, recovery, suite, *MORE)
