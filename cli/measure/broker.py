"""``rmqc bench send``, ``pull``, ``start``, ``recovery`` and ``suite``."""

from __future__ import annotations

import click

from cli.measure.everything import COMMANDS as MORE
from cli.measure.result import report_measurement
from cli.options.common import SECONDS, SIZE, bench_options


def _threads(_ctx: click.Context, _option: click.Parameter, given: str) -> list[int]:
    try:
        found = [int(word) for word in given.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise click.BadParameter(f"{given!r} are no counts such as 1,16")
    return found


@click.command()
@bench_options("broker")
@SECONDS
@SIZE
@click.option(
    "--threads",
    default="1,16",
    show_default=True,
    callback=_threads,
    help="Producing threads, of one measurement each.",
)
@click.option(
    "--flush",
    type=click.Choice(["ASYNC", "SYNC"]),
    default="ASYNC",
    show_default=True,
    help="Whether producers wait for the disk.",
)
@click.option("--batch", type=click.IntRange(min=2), help="Messages of a send.")
@click.option("--oneway", is_flag=True, help="Want no answers; all are counted.")
def send(
    *,
    release: str,
    rounds: int,
    form: str,
    check: bool,
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
        rounds=rounds,
        seconds=seconds,
        shapes=tuple(shapes),
    )
    report_measurement(measure, release, size, form=form, check=check)


@click.command()
@bench_options("broker")
@SIZE
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=200_000,
    show_default=True,
    help="How many are stored before the consumer starts.",
)
def pull(
    *,
    release: str,
    rounds: int,
    form: str,
    check: bool,
    body_size: int,
    messages: int,
) -> None:
    """Consume stored messages with Apache's benchmark consumer, in turns.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 Java, a broker or a
    client failed.
    """
    from bench.measurements.pull import Size, measure

    size = Size(messages=messages, body_size=body_size, rounds=rounds)
    report_measurement(measure, release, size, form=form, check=check)


@click.command()
@bench_options("broker")
def start(*, release: str, rounds: int, form: str, check: bool) -> None:
    """Measure from a command to a name server and a broker that serve.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 one did not start.
    """
    from bench.measurements.starting import measure

    report_measurement(measure, release, rounds, form=form, check=check)


@click.command()
@bench_options("broker", has_rounds=False)
@click.option(
    "--gigabytes",
    type=click.FloatRange(min=0.001),
    default=1.0,
    show_default=True,
    help="Of the store; the disk has to have room for three.",
)
def recovery(*, release: str, form: str, check: bool, gigabytes: float) -> None:
    """Measure how long a start takes on a large store whose broker was killed.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 2 no room on the disk,
    3 a broker did not start.
    """
    from bench.measurements.recovering import measure

    report_measurement(measure, release, gigabytes, form=form, check=check)


@click.command()
@bench_options("broker", has_rounds=False)
@click.argument("words", nargs=-1)
def suite(*, release: str, form: str, check: bool, words: tuple[str, ...]) -> None:
    """Measure how long ``rmqc test`` takes on the reference and on a real release.

    WORDS are more arguments of rmqc test; write -- before them.

    Exit codes: 0 measured, 1 a goal is missed (with --check), 3 a run failed.
    """
    from bench.measurements.suite import measure

    report_measurement(measure, release, words, form=form, check=check)


COMMANDS = (send, pull, start, recovery, suite, *MORE)
